import { permissionLines } from './permissions.ts'
import { type GithubSetup, headOf, NOT_PAUSED, prefixesOf, yamlText } from './workflow-of.ts'

/** Runs for anybody's pull request, and therefore does nothing: that it ended wakes winnow.yml, which looks itself. */
export function wakeWorkflow(setup: GithubSetup): string {
  const prefixes = prefixesOf(setup)
  const ours = prefixes.map(
    prefix => `startsWith(github.event.pull_request.base.ref, ${yamlText(`${prefix}/`)})`,
  )
  return `${headOf(setup)}
name: winnow-wake
on:
  pull_request:
    branches: [${prefixes.map(prefix => yamlText(`${prefix}/**`)).join(', ')}]
    types: [opened, synchronize, reopened, edited, closed, ready_for_review]
  pull_request_review:
    types: [submitted, dismissed]

permissions: {}

jobs:
  wake:
    if: >-
      ${NOT_PAUSED} &&
      (${ours.join(' || ')})
    runs-on: ubuntu-24.04
    timeout-minutes: 5
${permissionLines('wake')}
    steps:
      - name: Wake winnow.yml by ending
        run: 'true'
`
}
