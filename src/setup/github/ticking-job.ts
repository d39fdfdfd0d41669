import { cloneStep, handStep, keepStep } from './job-steps.ts'
import { permissionLines, type Rights } from './permissions.ts'
import { callOf } from './reusable.ts'
import { type GithubSetup, ONE_AT_A_TIME } from './workflow-of.ts'

export const ITEMS_ARTIFACT = 'winnow-items'

interface Ticking {
  rights: Extract<Rights, 'tick' | 'comment'>
  /** What its last step is called. */
  step: string
  /** Whether a job comes after it that asks programs, as it stands in the file; null: none ever does. */
  mayAsk?: string | null
  /** The same of one that asks models for scores. */
  mayJudge?: string | null
}

/** A job that carries campaigns on, from its condition on: written out, or a call, which waits in no line itself. */
export function tickingJob(
  { action, calls = false }: GithubSetup,
  { rights, step, mayAsk = null, mayJudge = null }: Ticking,
): string {
  const may = permissionLines(rights)
  if (calls) {
    const inputs = inputLines({ mayAsk, mayJudge }, '      ')
    const given = inputs === '' ? '' : `    with:${inputs}\n`
    return `${may}\n    uses: ${callOf(action, 'tick')}\n${given}`
  }
  return `    runs-on: ubuntu-24.04
    timeout-minutes: 20
${ONE_AT_A_TIME}
${may}
    outputs:
      propose: \${{ steps.tick.outputs.propose }}
      judge: \${{ steps.tick.outputs.judge }}
    steps:
${cloneStep()}
      - name: ${step}
        id: tick
        uses: ${action}
        with:
          command: tick${inputLines({ mayAsk, mayJudge }, '          ')}
          github-token: \${{ github.token }}
${keepStep('tick')}${mayJudge === null ? '' : HAND_ITEMS_ON}`
}

/** The job that asks models may not fetch what measuring runs left: it gets what this one found. */
const HAND_ITEMS_ON = handStep({
  name: 'Hand on what is to be scored',
  when: "always() && steps.tick.outputs.items != ''",
  artifact: ITEMS_ARTIFACT,
  path: '${{ steps.tick.outputs.items }}',
})

type Follows = Required<Pick<Ticking, 'mayAsk' | 'mayJudge'>>

function inputLines({ mayAsk, mayJudge }: Follows, indent: string): string {
  const given = Object.entries({ 'may-ask': mayAsk, 'may-judge': mayJudge })
  return given.map(([name, value]) => (value === null ? '' : `\n${indent}${name}: ${value}`)).join('')
}
