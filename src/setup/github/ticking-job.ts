import { cloneStep, keepStep } from './job-steps.ts'
import { permissionLines, type Rights } from './permissions.ts'
import { callOf } from './reusable.ts'
import { type GithubSetup, ONE_AT_A_TIME } from './workflow-of.ts'

interface Ticking {
  rights: Extract<Rights, 'tick' | 'comment'>
  /** What its last step is called. */
  step: string
  /** Whether a job comes after it that asks programs, as it stands in the file; null: none ever does. */
  mayAsk?: string | null
}

/** A job that carries campaigns on, from its condition on: written out, or a call, which waits in no line itself. */
export function tickingJob(
  { action, calls = false }: GithubSetup,
  { rights, step, mayAsk = null }: Ticking,
): string {
  const may = permissionLines(rights)
  if (calls) {
    const given = mayAsk === null ? '' : `    with:\n      may-ask: ${mayAsk}\n`
    return `${may}\n    uses: ${callOf(action, 'tick')}\n${given}`
  }
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
          command: tick${mayAsk === null ? '' : `\n          may-ask: ${mayAsk}`}
          github-token: \${{ github.token }}
${keepStep('tick')}`
}
