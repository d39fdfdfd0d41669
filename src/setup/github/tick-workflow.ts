import { MODEL_ENVIRONMENT, MODEL_SECRET, permissionLines } from './permissions.ts'
import { pinned } from './pins.ts'
import { cronOf } from './schedule.ts'
import { cloneStep, tickingJob } from './ticking-job.ts'
import { type GithubSetup, headOf, NOT_PAUSED, ONE_AT_A_TIME, yamlText } from './workflow-of.ts'

const WAKERS = '[".github/workflows/winnow-measure.yml", ".github/workflows/winnow-wake.yml"]'

/** The one workflow that writes. An idle wake-up is its first job and no other. */
export function tickWorkflow(setup: GithubSetup): string {
  const { specs } = setup
  const asks = specs.some(({ propose }) => propose.some(({ use }) => use === 'command'))
  const jobs = [tickJob(setup), ...(asks ? [proposeJob(setup), settleJob(setup)] : [])]
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

function tickJob(setup: GithubSetup): string {
  return `  tick:
    # Other workflows may have the names of these two: only files of these paths count.
    if: >-
      ${NOT_PAUSED} &&
      (github.event_name != 'workflow_run' ||
      contains(fromJSON('${WAKERS}'), github.event.workflow_run.path))
${tickingJob(setup, { rights: 'tick', step: 'Observe, decide, act' })}`
}

function proposeJob({ action }: GithubSetup): string {
  return `  propose:
    needs: tick
    if: needs.tick.outputs.propose != ''
    runs-on: ubuntu-24.04
    timeout-minutes: 90
    environment: ${MODEL_ENVIRONMENT}
${permissionLines('propose')}
    steps:
${cloneStep()}
      - name: Ask for ideas
        id: propose
        uses: ${action}
        with:
          command: propose
          campaign: \${{ needs.tick.outputs.propose }}
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

/** The answers are data to it, as those of anybody else. */
function settleJob({ action }: GithubSetup): string {
  return `  settle:
    needs: [tick, propose]
    if: always() && needs.propose.result == 'success'
    runs-on: ubuntu-24.04
    timeout-minutes: 20
${ONE_AT_A_TIME}
${permissionLines('settle')}
    steps:
${cloneStep()}
      - name: Fetch what the proposers answered
        uses: ${pinned('actions/download-artifact')}
        with:
          name: winnow-propose
          path: \${{ runner.temp }}/winnow-propose
      - name: Take the answers in
        uses: ${action}
        with:
          command: tick
          github-token: \${{ github.token }}
`
}
