import { askingMinutes } from '../../plan/asked-elsewhere.ts'
import { ANSWERS_FILE } from '../../propose/answers-file.ts'
import { cloneStep, giveUpRoot, keepStep, SET_UP, TRUSTED_SETUP } from './job-steps.ts'
import { MODEL_ENVIRONMENT, MODEL_SECRET, permissionLines } from './permissions.ts'
import { pinned } from './pins.ts'
import { cronOf } from './schedule.ts'
import { tickingJob } from './ticking-job.ts'
import { type GithubSetup, NOT_PAUSED, asksPrograms, headOf, yamlText } from './workflow-of.ts'

const WAKERS = '[".github/workflows/winnow-measure.yml", ".github/workflows/winnow-wake.yml"]'

/** The one workflow that writes. An idle wake-up is its first job and no other. */
export function tickWorkflow(setup: GithubSetup): string {
  const { specs } = setup
  const asks = asksPrograms(setup)
  const jobs = [tickJob(setup, asks), ...(asks ? [proposeJob(setup), settleJob(setup)] : [])]
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

function tickJob(setup: GithubSetup, asks: boolean): string {
  return `  tick:
    # Other workflows may have the names of these two: only files of these paths count.
    if: >-
      ${NOT_PAUSED} &&
      (github.event_name != 'workflow_run' ||
      contains(fromJSON('${WAKERS}'), github.event.workflow_run.path))
${tickingJob(setup, { rights: 'tick', step: 'Observe, decide, act', mayAsk: asks ? 'true' : null })}`
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
      - name: Hand the answers over
        if: steps.propose.outputs.report != ''
        uses: ${pinned('actions/upload-artifact')}
        with:
          name: winnow-propose
          path: \${{ steps.propose.outputs.report }}
          if-no-files-found: error
          retention-days: 7
`
}

/** The answers are data to it, as those of anybody else; where none came, nobody waits for them any longer. */
function settleJob({ action }: GithubSetup): string {
  return `  settle:
    needs: [tick, propose]
    if: always() && needs.tick.outputs.propose != ''
    runs-on: ubuntu-24.04
    timeout-minutes: 20
${permissionLines('settle')}
    steps:
${cloneStep()}
      - name: Fetch what the proposers answered
        if: needs.propose.outputs.artifact != ''
        uses: ${pinned('actions/download-artifact')}
        with:
          name: winnow-propose
          path: \${{ runner.temp }}/winnow-propose
      - name: Take the answers in
        id: settle
        uses: ${action}
        with:
          command: tick
          answers: \${{ runner.temp }}/winnow-propose/${ANSWERS_FILE}
          github-token: \${{ github.token }}
${keepStep('settle')}`
}
