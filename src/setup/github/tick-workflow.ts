import { MODEL_ENVIRONMENT, MODEL_SECRET, permissionLines, type Rights } from './permissions.ts'
import { pinned } from './pins.ts'
import { cronOf } from './schedule.ts'
import { cloneStep, tickingJob } from './ticking-job.ts'
import { type GithubSetup, headOf, NOT_PAUSED, ONE_AT_A_TIME, yamlText } from './workflow-of.ts'

const WAKERS = '[".github/workflows/winnow-measure.yml", ".github/workflows/winnow-wake.yml"]'

/** The one workflow that writes. An idle wake-up is its first job and no other. */
export function tickWorkflow(setup: GithubSetup): string {
  const { specs } = setup
  const proposes = specs.some(({ propose }) =>
    propose.some(({ use }) => use !== 'external' && use !== 'patch'),
  )
  const judges = specs.some(({ metric }) => metric.primary.type !== 'hard')
  const asked = [...(proposes ? ['propose' as const] : []), ...(judges ? ['judge' as const] : [])]
  const jobs = [tickJob(setup), ...asked.map(name => modelJob(setup, name))]
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
    ...(asked.length === 0 ? [] : [settleJob(setup, asked)]),
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

function modelJob({ action }: GithubSetup, name: Extract<Rights, 'propose' | 'judge'>): string {
  const what = name === 'propose' ? 'Ask for ideas' : 'Have outputs judged'
  return `  ${name}:
    needs: tick
    if: needs.tick.outputs.${name} != ''
    runs-on: ubuntu-24.04
    timeout-minutes: 90
    environment: ${MODEL_ENVIRONMENT}
${permissionLines(name)}
    steps:
${cloneStep()}
      - name: ${what}
        id: ${name}
        uses: ${action}
        with:
          command: ${name}
          campaign: \${{ needs.tick.outputs.${name} }}
        env:
          ${MODEL_SECRET}: \${{ secrets.${MODEL_SECRET} }}
      - name: Hand the answers over
        if: steps.${name}.outputs.report != ''
        uses: ${pinned('actions/upload-artifact')}
        with:
          name: winnow-${name}
          path: \${{ steps.${name}.outputs.report }}
          if-no-files-found: error
          retention-days: 7
`
}

/** Its answers are data to it, as those of anybody else. */
function settleJob({ action }: GithubSetup, asked: readonly ('propose' | 'judge')[]): string {
  const answered = asked.map(name => `needs.${name}.result == 'success'`).join(' || ')
  const downloads = asked.map(
    name => `      - name: Fetch what ${name} answered
        if: needs.${name}.result == 'success'
        uses: ${pinned('actions/download-artifact')}
        with:
          name: winnow-${name}
          path: \${{ runner.temp }}/winnow-${name}`,
  )
  return `  settle:
    needs: [tick, ${asked.join(', ')}]
    if: always() && (${answered})
    runs-on: ubuntu-24.04
    timeout-minutes: 20
${ONE_AT_A_TIME}
${permissionLines('settle')}
    steps:
${cloneStep()}
${downloads.join('\n')}
      - name: Take the answers in
        uses: ${action}
        with:
          command: tick
          github-token: \${{ github.token }}
`
}
