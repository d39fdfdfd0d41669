import { pinned } from './pins.ts'
import type { Toolchain } from './toolchain.ts'

/** Everything a job needs before an order can be measured; taken from the default branch, never from an experiment. */
export function setupAction({ steps, cache }: Toolchain): string {
  const restore = cache === null ? [] : [restoreStep(cache)]
  return `# Written once by \`winnow init --github\` from what it found, and yours from then on: winnow never touches it again.
# It is read from the default branch; the repository to be measured lies in ./repository.
name: winnow-setup
description: Sets up the tool chain for measurements.
runs:
  using: composite
  steps:
${[...steps, ...restore].join('\n')}
`
}

/**
 * Only read: what a measuring job leaves is nobody's to use again. It helps once a workflow on the default branch
 * saves the same paths under this key (actions/cache/save).
 */
function restoreStep({ paths, locks }: NonNullable<Toolchain['cache']>): string {
  const hashed = locks.map(lock => `'repository/**/${lock}'`).join(', ')
  return [
    '    - name: Take downloads that the default branch has cached',
    `      uses: ${pinned('actions/cache/restore')}`,
    '      with:',
    '        path: |',
    ...paths.map(path => `          ${path}`),
    `        key: winnow-\${{ runner.os }}-\${{ hashFiles(${hashed}) }}`,
    '        restore-keys: winnow-${{ runner.os }}-',
  ].join('\n')
}
