import { permissionLines } from './permissions.ts'
import { pinned } from './pins.ts'
import { type GithubSetup, HEAD, NOT_PAUSED, ONE_AT_A_TIME } from './workflow-of.ts'

/** Who may say what is asked of GitHub by tick, for each comment: that it begins so is only why it is woken. */
export function commentsWorkflow({ action }: GithubSetup): string {
  return `${HEAD}
# Optional: without it winnow is steered by its command line, and comments are only comments.
name: winnow-comments
on:
  issue_comment:
    types: [created]

permissions: {}

jobs:
  tick:
    if: >-
      ${NOT_PAUSED} &&
      github.event.issue.pull_request && startsWith(github.event.comment.body, '/winnow')
    runs-on: ubuntu-24.04
    timeout-minutes: 20
${ONE_AT_A_TIME}
${permissionLines('comment')}
    steps:
      - name: Clone, without leaving a credential behind
        uses: ${pinned('actions/checkout')}
        with:
          fetch-depth: 0
          persist-credentials: false
      - name: Hear, decide, act
        uses: ${action}
        with:
          command: tick
          github-token: \${{ github.token }}
`
}
