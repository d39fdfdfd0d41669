import { permissionLines, type Rights } from './permissions.ts'
import { pinned } from './pins.ts'
import { callOf } from './reusable.ts'
import { type GithubSetup, ONE_AT_A_TIME } from './workflow-of.ts'

interface Ticking {
  rights: Extract<Rights, 'tick' | 'comment'>
  /** What its last step is called. */
  step: string
}

/** A job that carries campaigns on, from its condition on: written out, or a call, which waits in no line itself. */
export function tickingJob({ action, calls = false }: GithubSetup, { rights, step }: Ticking): string {
  const may = permissionLines(rights)
  if (calls) return `${may}\n    uses: ${callOf(action, 'tick')}\n`
  return `    runs-on: ubuntu-24.04
    timeout-minutes: 20
${ONE_AT_A_TIME}
${may}
    outputs:
      propose: \${{ steps.tick.outputs.propose }}
    steps:
${cloneStep()}
      - name: ${step}
        id: tick
        uses: ${action}
        with:
          command: tick
          github-token: \${{ github.token }}
`
}

export function cloneStep(): string {
  return `      - name: Clone, without leaving a credential behind
        uses: ${pinned('actions/checkout')}
        with:
          fetch-depth: 0
          persist-credentials: false`
}
