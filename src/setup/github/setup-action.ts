import type { Toolchain } from './toolchain.ts'

/**
 * Everything a job needs before an order can be measured; taken from the default branch, never from an experiment. It
 * restores no cache: a measuring job of the same branch could have saved it, and users of sides cannot read it.
 */
export function renderSetupAction({ steps }: Toolchain): string {
  return `# Written once by \`winnow init --github\` from what it found, and yours from then on: winnow never touches it again.
# It is read from the default branch; the repository to be measured lies in ./repository.
name: winnow-setup
description: Sets up the tool chain for measurements.
runs:
  using: composite
  steps:
${steps.join('\n')}
`
}
