import { getArtifactFileName, getArtifactName, MAX_ORDERS_PER_RUN } from '../../model/job-file.ts'
import { computeJudgingMinutes } from '../../plan/judging.ts'
import { computeProposeMinutes } from '../../plan/proposals.ts'
import { isJudgedMetric } from '../../spec/spec-facts.ts'
import {
  type GithubSetup,
  hasCountedMetrics,
  hasJudges,
  hasProgramProposers,
  listPrefixes,
  MODEL_ENVIRONMENT,
  MODEL_SECRET,
  NOT_PAUSED,
  quoteYaml,
  renderPermissions,
  requirePlainExecution,
  type WorkflowCampaign,
} from './setup.ts'
import {
  CHECK_OUT,
  CLONE,
  CLONE_DIRECTORY,
  DROP_ROOT,
  formatPinnedAction,
  INSTALL_COUNTER,
  MAKE_SIDE_USERS,
  referToAction,
  renderDownload,
  renderSaveUnwritten,
  renderUpload,
  SET_UP_AGENTS,
  SET_UP_TOOLS,
} from './steps.ts'

/** Below the 360 minutes that GitHub allows a job. Orders have deadlines of their own. */
export const MOST_MINUTES = 350

/**
 * The group name is literal, because `github.workflow` differs between files. Without `queue: max` GitHub
 * drops the third waiting job.
 */
const ONE_AT_A_TIME = `    concurrency:
      group: winnow
      cancel-in-progress: false
      queue: max`

export function renderJobs(setup: GithubSetup): string {
  const measuring = planMeasuringJobs(setup)
  const jobs = [
    renderTick(setup),
    ...(hasProgramProposers(setup) ? [renderPropose(setup)] : []),
    ...measuring.map(job => renderMeasure(setup, job)),
    ...(hasJudges(setup) ? [renderJudge(setup)] : []),
    renderSettle(setup, measuring),
    ...(setup.attest === true ? [renderAttest()] : []),
  ]
  return jobs.join('\n\n')
}

/** Reviews of a fork's pull request run with a read-only token. Comments on issues are not commands. */
export function renderTriggerCondition(
  setup: Pick<GithubSetup, 'specs'>,
  { reviews }: { reviews: boolean } = { reviews: true },
): string {
  const bases = listPrefixes(setup).map(
    prefix => `startsWith(github.event.pull_request.base.ref, ${quoteYaml(`${prefix}/`)})`,
  )
  const ofReviews = `
      (github.event_name != 'pull_request_review' ||
      github.event.pull_request.head.repo.full_name == github.repository &&
      (${bases.join(' || ')})) &&`
  return `    if: >-
      ${NOT_PAUSED} &&${reviews ? ofReviews : ''}
      (github.event_name != 'issue_comment' ||
      github.event.issue.pull_request && startsWith(github.event.comment.body, '/winnow'))`
}

function renderTick(setup: GithubSetup): string {
  const judges = hasJudges(setup)
  const asking = [...(hasProgramProposers(setup) ? ['propose'] : []), ...(judges ? ['judge'] : [])]
  const attests = setup.attest === true
  const outputs = ['campaign', 'orders', ...asking, ...(attests ? ['ledger'] : [])]
  const steps = [
    CHECK_OUT,
    `      - name: Observe, decide, act
        id: tick
        uses: ${referToAction(setup.action, '')}
        with:
          command: tick
          next-jobs: ${renderNextJobs(asking, attests)}
          github-token: \${{ github.token }}`,
    renderSaveUnwritten('tick'),
    ...(judges ? [UPLOAD_ITEMS] : []),
  ]
  return `  # Decides what is due, writes the ledger, opens and closes pull requests. Runs no code of any pull request.
  tick:
    name: decide what is due
${renderTriggerCondition(setup)}
    runs-on: ubuntu-24.04
    timeout-minutes: 20
${ONE_AT_A_TIME}
${renderPermissions('tick')}
    outputs:
${outputs.map(name => `      ${name}: \${{ steps.tick.outputs.${name} }}`).join('\n')}
    steps:
${steps.join('\n')}`
}

/**
 * The run of a review is at the merge of its pull request, where a rule of the environment withholds the
 * model key, and where nothing proves that its workflow file is the owner's: a tick that `attest` follows starts
 * another run instead.
 */
function renderNextJobs(asking: readonly string[], attests: boolean): string {
  const always = ['measure', ...(attests ? ['attest'] : [])].join(', ')
  if (asking.length === 0) return always
  const all = [always, ...asking].join(', ')
  return `\${{ github.event_name == 'pull_request_review' && '${always}' || '${all}' }}`
}

const UPLOAD_ITEMS = renderUpload({
  name: 'Upload the items to score',
  when: "always() && steps.tick.outputs.items != ''",
  artifact: getArtifactName('items'),
  path: '${{ steps.tick.outputs.items }}',
})

/** The timeout follows the slowest program of any spec. */
function renderPropose({ action, specs }: GithubSetup): string {
  return `  # Asks the programs that a spec names for ideas. They get the model key and a copy of the code, no token.
  propose:
    name: ask programs for ideas
    needs: tick
    if: "${NOT_PAUSED} && !cancelled() && needs.tick.outputs.propose != ''"
    runs-on: ubuntu-24.04
    timeout-minutes: ${Math.max(...specs.map(computeProposeMinutes))}
    environment: ${MODEL_ENVIRONMENT}
${renderPermissions('propose')}
    outputs:
      digest: \${{ steps.hand.outputs.artifact-digest }}
    steps:
${[CLONE, SET_UP_TOOLS, SET_UP_AGENTS, DROP_ROOT].join('\n')}
      - name: Ask for ideas
        id: propose
        uses: ${referToAction(action, CLONE_DIRECTORY)}
        with:
          command: propose
          campaign: \${{ needs.tick.outputs.propose }}
          directory: ${CLONE_DIRECTORY}
        env:
${hasTextGradients(specs) ? MODEL_ADDRESS : ''}          ${MODEL_SECRET}: \${{ secrets.${MODEL_SECRET} }}
${renderUpload({ name: 'Upload the answers', id: 'hand', when: "steps.propose.outputs.report != ''", artifact: getArtifactName('answers'), path: '${{ steps.propose.outputs.report }}' })}`
}

function hasTextGradients(specs: GithubSetup['specs']): boolean {
  return specs.some(({ propose }) => propose.some(({ use }) => use === 'textgrad'))
}

const MODEL_ADDRESS = `          WINNOW_MODEL_URL: \${{ vars.WINNOW_MODEL_URL }}
          WINNOW_MODEL_PRICE: \${{ vars.WINNOW_MODEL_PRICE }}
`

/** A job that measures one campaign, or all campaigns without a job of their own. */
interface MeasuringJob {
  id: string
  /** Added to the job's condition. Null: the job measures every campaign. */
  campaigns: string | null
  execution: Pick<WorkflowCampaign['execution'], 'runs_on' | 'services'>
  /** Installs the tool that counts instructions and allocations. */
  counts: boolean
}

const PLAIN_RUNNER = 'ubuntu-24.04'

/**
 * Campaigns on plain runners share a job, including those whose specs are added later. Other campaigns have
 * their own jobs.
 */
function planMeasuringJobs({ specs }: Pick<GithubSetup, 'specs'>): MeasuringJob[] {
  const own = specs.filter(spec => !isPlain(requirePlainExecution(spec)))
  const ownNames = own.map(({ name }) => name)
  const others =
    own.length === 0
      ? null
      : `!contains(fromJSON(${quoteYaml(JSON.stringify(ownNames))}), needs.tick.outputs.campaign)`
  const shared: MeasuringJob = {
    id: 'measure',
    campaigns: others,
    execution: { runs_on: PLAIN_RUNNER, services: {} },
    counts: hasCountedMetrics(specs.filter(spec => !own.includes(spec))),
  }
  return [
    ...(own.length < specs.length ? [shared] : []),
    ...own.map(spec => ({
      id: `measure-${spec.name}`,
      campaigns: `needs.tick.outputs.campaign == ${quoteYaml(spec.name)}`,
      execution: spec.execution,
      counts: hasCountedMetrics([spec]),
    })),
  ]
}

function isPlain({ runs_on, services }: WorkflowCampaign['execution']): boolean {
  return runs_on === PLAIN_RUNNER && Object.keys(services).length === 0
}

/**
 * Any job of the run can replace the artifact of another one, so each job publishes the digest of its own.
 */
function renderSlots(): string {
  const digest = 'steps.hand.outputs.artifact-digest || steps.rescue.outputs.artifact-digest'
  return Array.from(
    { length: MAX_ORDERS_PER_RUN },
    (_, slot) =>
      `      slot-${slot}: \${{ matrix.slot == ${slot} && format('{0} {1}', job.status, ${digest}) || '' }}`,
  ).join('\n')
}

/**
 * Never runs on the default branch, because every other run restores caches saved there. The job name begins
 * with a word: for a skipped job GitHub shows the expression itself.
 */
function renderMeasure({ action }: GithubSetup, job: MeasuringJob): string {
  const { id, campaigns, execution, counts } = job
  const tools = [CLONE, SET_UP_TOOLS, ...(counts ? [INSTALL_COUNTER] : []), MAKE_SIDE_USERS]
  const condition = [
    NOT_PAUSED,
    "!cancelled() && needs.tick.outputs.orders != ''",
    "github.event_name == 'workflow_dispatch'",
    'github.ref_name != github.event.repository.default_branch',
    ...(campaigns === null ? [] : [campaigns]),
  ]
  return `  # Runs code of experiments, one order a job. It has no secret, may write nothing, and saves no cache.
  ${id}:
    name: measure \${{ matrix.title }}
    needs: tick
    if: >-
      ${condition.join(' &&\n      ')}
    strategy:
      fail-fast: false
      matrix:
        include: \${{ fromJSON(needs.tick.outputs.orders) }}
    runs-on: ${renderRunner(execution.runs_on)}
    timeout-minutes: ${MOST_MINUTES}
${renderPermissions('measure')}
${renderServices(execution.services)}    outputs:
${renderSlots()}
    steps:
${tools.join('\n')}
      - name: Measure the order
        id: measure
        uses: ${referToAction(action, CLONE_DIRECTORY)}
        with:
          command: measure
          campaign: \${{ needs.tick.outputs.campaign }}
          order: \${{ matrix.order }}
          directory: ${CLONE_DIRECTORY}
${renderUpload({ name: 'Upload the report', id: 'hand', when: "steps.measure.outputs.report != ''", artifact: 'report-${{ matrix.order }}', path: '${{ steps.measure.outputs.report }}' })}
${renderUpload({ name: 'Upload the partial report', id: 'rescue', when: "always() && steps.measure.outputs.partial != ''", artifact: 'partial-${{ matrix.order }}', path: '${{ steps.measure.outputs.partial }}' })}`
}

/** JSON is valid YAML. */
function renderRunner(labels: WorkflowCampaign['execution']['runs_on']): string {
  if (typeof labels === 'string') return quoteUnlessPlain(labels)
  const ignored =
    labels[0] === 'self-hosted' ? ' # zizmor: ignore[self-hosted-runner] as the spec has it' : ''
  return `${JSON.stringify(labels)}${ignored}`
}

function quoteUnlessPlain(label: string): string {
  return /^[a-z][\w.-]*$/.test(label) ? label : JSON.stringify(label)
}

function renderServices(services: WorkflowCampaign['execution']['services']): string {
  if (Object.keys(services).length === 0) return ''
  return `    services: ${JSON.stringify(services)} # zizmor: ignore[unpinned-images] as the spec has them\n`
}

/** The job runs no third-party code, so it needs neither tool chain nor side users. */
function renderJudge({ action, specs }: GithubSetup): string {
  return `  # Asks models to score what experiments printed. It has the model key, and runs winnow alone.
  judge:
    name: ask models for scores
    needs: tick
    if: "${NOT_PAUSED} && !cancelled() && needs.tick.outputs.judge != ''"
    runs-on: ubuntu-24.04
    timeout-minutes: ${Math.max(...specs.filter(isJudgedMetric).map(computeJudgingMinutes))}
    environment: ${MODEL_ENVIRONMENT}
${renderPermissions('judge')}
    outputs:
      digest: \${{ steps.hand.outputs.artifact-digest }}
    steps:
${[CHECK_OUT, renderDownload('Download the items to score', getArtifactName('items'))].join('\n')}
      - name: Ask models for scores
        id: judge
        uses: ${referToAction(action, '')}
        with:
          command: judge
          campaign: \${{ needs.tick.outputs.judge }}
          items: \${{ runner.temp }}/${getArtifactName('items')}/${getArtifactFileName('items')}
        env:
${MODEL_ADDRESS}          ${MODEL_SECRET}: \${{ secrets.${MODEL_SECRET} }}
${renderUpload({ name: 'Upload the scores', id: 'hand', when: "always() && steps.judge.outputs.report != ''", artifact: getArtifactName('scores'), path: '${{ steps.judge.outputs.report }}' })}`
}

/**
 * Runs after every job that was due, because the campaign would otherwise wait for an order or a request
 * whose job was lost. Also runs after a lost tick, which the campaign would otherwise notice only at the next
 * event.
 */
function renderSettle(setup: GithubSetup, measuring: readonly MeasuringJob[]): string {
  const askingJobs = [
    ...(hasProgramProposers(setup) ? ['propose'] : []),
    ...(hasJudges(setup) ? ['judge'] : []),
  ]
  const outputs = ['orders', ...askingJobs].map(output => `needs.tick.outputs.${output} != ''`)
  const due = ["needs.tick.result != 'success'", ...outputs].join(' || ')
  const needs = ['tick', ...askingJobs, ...measuring.map(({ id }) => id)]
  return `  # Records the results of this run, decides, lands, and starts the next run if more is due.
  settle:
    name: record results
    needs: [${needs.join(', ')}]
    if: always() && ${NOT_PAUSED} && needs.tick.result != 'skipped' && (${due})
    runs-on: ubuntu-24.04
    timeout-minutes: 20
${ONE_AT_A_TIME}
${renderPermissions('settle')}
${setup.attest === true ? '    outputs:\n      ledger: ${{ steps.settle.outputs.ledger }}\n' : ''}    steps:
${CHECK_OUT}
      - name: Record the results, decide, act
        id: settle
        uses: ${referToAction(setup.action, '')}
        with:
          command: settle
          jobs: \${{ toJSON(needs) }}
          github-token: \${{ github.token }}
${renderSaveUnwritten('settle')}`
}

/** Gets only digests and names, so that the one job that may sign as this workflow runs no code but GitHub's. */
function renderAttest(): string {
  return `  # Has GitHub attest which events of the ledger this run wrote. Checks nothing out and runs nothing of it.
  attest:
    name: attest the ledger
    needs: [tick, settle]
    if: always() && ${NOT_PAUSED} && (needs.tick.outputs.ledger != '' || needs.settle.outputs.ledger != '')
    runs-on: ubuntu-24.04
    timeout-minutes: 10
${renderPermissions('attest')}
    steps:
      - name: List what this run wrote
        shell: bash
        env:
          TICK: \${{ needs.tick.outputs.ledger }}
          SETTLE: \${{ needs.settle.outputs.ledger }}
        run: printf '%s\\n' "$TICK" "$SETTLE" | sed '/^$/d' > subjects.txt
      - name: Attest it
        uses: ${formatPinnedAction('actions/attest-build-provenance')}
        with:
          subject-checksums: subjects.txt`
}
