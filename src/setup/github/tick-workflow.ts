import { ITEMS_FILE, SCORES_FILE } from '../../judge/handed-on.ts'
import { askingMinutes } from '../../plan/asked-elsewhere.ts'
import { judgingMinutes } from '../../plan/judged-elsewhere.ts'
import { ANSWERS_FILE } from '../../propose/answers-file.ts'
import { isJudged } from '../../spec/judged.ts'
import { cloneStep, fetchStep, giveUpRoot, handStep, keepStep, SET_UP, TRUSTED_SETUP } from './job-steps.ts'
import { MODEL_ENVIRONMENT, MODEL_SECRET, permissionLines } from './permissions.ts'
import { cronOf } from './schedule.ts'
import { ITEMS_ARTIFACT, tickingJob } from './ticking-job.ts'
import { type GithubSetup, NOT_PAUSED, asksJudges, asksPrograms, headOf, yamlText } from './workflow-of.ts'

const WAKERS = '[".github/workflows/winnow-measure.yml", ".github/workflows/winnow-wake.yml"]'

/** The one workflow that writes. An idle wake-up is its first job and no other. */
export function tickWorkflow(setup: GithubSetup): string {
  const { specs } = setup
  const asked: Asked = { programs: asksPrograms(setup), models: asksJudges(setup) }
  const asking = [...(asked.programs ? [proposeJob(setup)] : []), ...(asked.models ? [judgeJob(setup)] : [])]
  const jobs = [tickJob(setup, asked), ...asking, ...(asking.length > 0 ? [settleJob(setup, asked)] : [])]
  const lines = [
    headOf(setup),
    'name: winnow',
    'on:',
    '  schedule:',
    ...[...new Set(specs.map(cronOf))].map(cron => `    - cron: ${yamlText(cron)}`),
    '  workflow_dispatch:',
    '  # Takes nothing from the run that ended: tick looks for itself at what there is.',
    '  workflow_run:',
    '    workflows: [winnow-measure, winnow-wake]',
    '    types: [completed]',
    '',
    'permissions: {}',
    '',
    'jobs:',
    ...jobs,
    '',
  ]
  return `${lines.join('\n').trimEnd()}\n`
}

/** Of whom jobs of their own ask something. */
type Asked = Record<'programs' | 'models', boolean>

function tickJob(setup: GithubSetup, asked: Asked): string {
  return `  tick:
    # Other workflows may have the names of these two: only files of these paths count.
    if: >-
      ${NOT_PAUSED} &&
      (github.event_name != 'workflow_run' ||
      contains(fromJSON('${WAKERS}'), github.event.workflow_run.path))
${tickingJob(setup, { rights: 'tick', step: 'Observe, decide, act', mayAsk: asked.programs ? 'true' : null, mayJudge: asked.models ? 'true' : null })}`
}

/** As long as whoever is slowest may take. A campaign that cannot be ticked keeps no other from being asked for. */
function proposeJob({ action, specs }: GithubSetup): string {
  return `  propose:
    needs: tick
    if: "!cancelled() && needs.tick.outputs.propose != ''"
    runs-on: ubuntu-24.04
    timeout-minutes: ${Math.max(...specs.map(askingMinutes))}
    environment: ${MODEL_ENVIRONMENT}
${permissionLines('propose')}
    outputs:
      artifact: \${{ steps.propose.outputs.artifact }}
    steps:
${TRUSTED_SETUP}
${cloneStep(undefined, 'repository')}
${SET_UP}
      - name: Set up the programs that are asked
        uses: ./trusted/.github/actions/winnow-agents
${giveUpRoot()}
      - name: Ask for ideas
        id: propose
        uses: ${action}
        with:
          command: propose
          campaign: \${{ needs.tick.outputs.propose }}
          directory: repository
        env:
          ${MODEL_SECRET}: \${{ secrets.${MODEL_SECRET} }}
${handStep({ name: 'Hand the answers over', when: "steps.propose.outputs.report != ''", artifact: 'winnow-propose', path: '${{ steps.propose.outputs.report }}' })}`
}

/** What is printed about is text, and none of it runs here: there is no tool chain, and nobody to become root. */
function judgeJob({ action, specs }: GithubSetup): string {
  return `  judge:
    needs: tick
    if: "!cancelled() && needs.tick.outputs.judge != ''"
    runs-on: ubuntu-24.04
    timeout-minutes: ${Math.max(...specs.filter(isJudged).map(judgingMinutes))}
    environment: ${MODEL_ENVIRONMENT}
${permissionLines('judge')}
    outputs:
      artifact: \${{ steps.judge.outputs.artifact }}
    steps:
${cloneStep()}
${fetchStep({ name: 'Fetch what is to be scored', when: null, artifact: ITEMS_ARTIFACT })}      - name: Ask models for scores
        id: judge
        uses: ${action}
        with:
          command: judge
          campaign: \${{ needs.tick.outputs.judge }}
          items: \${{ runner.temp }}/${ITEMS_ARTIFACT}/${ITEMS_FILE}
        env:
          WINNOW_MODEL_URL: \${{ vars.WINNOW_MODEL_URL }}
          WINNOW_MODEL_PRICE: \${{ vars.WINNOW_MODEL_PRICE }}
          ${MODEL_SECRET}: \${{ secrets.${MODEL_SECRET} }}
${handStep({ name: 'Hand the scores over', when: "always() && steps.judge.outputs.report != ''", artifact: 'winnow-judge', path: '${{ steps.judge.outputs.report }}' })}`
}

/** The answers are data to it, as those of anybody else; where none came, nobody waits for them any longer. */
function settleJob({ action }: GithubSetup, { programs, models }: Asked): string {
  const asked = [...(programs ? (['propose'] as const) : []), ...(models ? (['judge'] as const) : [])]
  const wanted = asked.map(job => `needs.tick.outputs.${job} != ''`).join(' || ')
  return `  settle:
    needs: [${['tick', ...asked].join(', ')}]
    if: always() && ${asked.length > 1 ? `(${wanted})` : wanted}
    runs-on: ubuntu-24.04
    timeout-minutes: 20
${permissionLines('settle')}
    steps:
${cloneStep()}
${asked.map(fetchAnswers).join('')}      - name: Take the answers in
        id: settle
        uses: ${action}
        with:
          command: tick
${asked.map(answersInput).join('\n')}
          github-token: \${{ github.token }}
${keepStep('settle')}`
}

const TAKEN = {
  propose: { name: 'Fetch what the proposers answered', input: 'answers', file: ANSWERS_FILE },
  judge: { name: 'Fetch what the models scored', input: 'scores', file: SCORES_FILE },
} as const

function fetchAnswers(job: keyof typeof TAKEN): string {
  return fetchStep({
    name: TAKEN[job].name,
    when: `needs.${job}.outputs.artifact != ''`,
    artifact: `winnow-${job}`,
  })
}

function answersInput(job: keyof typeof TAKEN): string {
  const { input, file } = TAKEN[job]
  return `          ${input}: \${{ runner.temp }}/winnow-${job}/${file}`
}
