import { isRefusal } from '../../errors.ts'
import type { Workflows } from '../../github/port.ts'
import type { PrintedOrder } from '../../judge/judging-task.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import { findSubject } from '../../model/experiment.ts'
import { findPendingJudging } from '../../model/fold/proposers.ts'
import { type OrderId, toShortRef } from '../../model/ids.ts'
import { formatActionsRunId, getArtifactName, MAX_ORDERS_PER_RUN } from '../../model/job-file.ts'
import { isJudgedOrder, type Order } from '../../model/order.ts'
import type { RunFacts } from '../../plan/world.ts'
import { formatRunTitle } from '../../report/github-names.ts'
import type { CampaignContext } from '../campaign/context.ts'
import {
  createRunArtifacts,
  createRunLookup,
  type EndedJob,
  explainEndedRun,
  FIRST_ATTEMPT,
  getJobRunId,
  listWaitingOrders,
  parseRunNumber,
  partialEntrySchema,
  printedEntrySchema,
  readReportEntry,
  type ReadRun,
  reportEntrySchema,
  type RunArtifacts,
  type RunRole,
} from './github-runs.ts'
import { takePrintedOrder, type UnscoredOrders } from './judging.ts'
import { readSpecForOrder } from './job-clone.ts'
import { createAnswerReader } from './read-answers.ts'
import { NOTHING_HERE, type Runner } from './runner.ts'

export interface ActionsRunner extends Runner {
  listTakenOrders(campaign: Campaign): LiveOrder[]
  /** Runs that this process has started. Each of them observes the campaign again. */
  readonly started: readonly StartedRun[]
  /** The orders of earlier observations that wait for scores. */
  readonly unscored: UnscoredOrders
  /** Proposers answered in this run, and none had an idea. */
  readonly hadNoIdea: boolean
}

/** `run` is null when the server did not return its number. */
export interface StartedRun {
  run: number | null
  title: string
}

interface ActionsRunnerOptions {
  role: RunRole
  next: { propose: boolean; judge: boolean }
}

type ActionsRunnerContext = Pick<CampaignContext, 'refs' | 'repository' | 'by' | 'progress' | 'clock'>

/** A run that is started but not recorded takes the undispatched orders itself. */
export function createActionsRunner(
  context: ActionsRunnerContext,
  workflows: Workflows,
  { role, next }: ActionsRunnerOptions,
): ActionsRunner {
  const own = getJobRunId(context)
  const unscored: UnscoredOrders = new Map()
  const lookAt = createRunLookup(workflows)
  const ended = new Set<number>()
  const artifacts = new Map<number, RunArtifacts>()
  const reports: ReportContext = {
    ...context,
    workflows,
    role,
    mayJudge: next.judge,
    lookAt,
    unscored,
    ended,
    artifacts,
  }
  const reader = createAnswerReader(context, unscored, { role, lookAt })
  const placed = new PlacedOrders()
  const started: StartedRun[] = []
  /** Runs that had orders at the previous observation. */
  let busy = new Set<number>()

  async function readFact(campaign: Campaign, live: LiveOrder): Promise<RunFacts | null> {
    const runId = placed.findRun(live)
    // A run that this process has just started cannot have ended.
    if (live.run_id !== null && !placed.has(live.order.id, live.run_id))
      return readRunReport(reports, campaign, live, live.run_id)
    if (runId === undefined) return null
    return runId === null ? { state: 'waiting' } : { state: 'running', runId }
  }

  return {
    asks: next.propose ? 'elsewhere' : 'later',
    async facts(campaign) {
      const runs = new Map<OrderId, RunFacts>()
      for (const live of listWaitingOrders(campaign)) {
        const fact = await readFact(campaign, live)
        if (fact !== null) runs.set(live.order.id, fact)
      }
      // Read after the reports, because their printed items tell which scores are expected.
      return { runs, proposing: [], setAsideUsd: 0, judgeJob: next.judge, ...(await reader.read(campaign)) }
    },
    async tidy(campaign) {
      const runs = placed.listRuns(campaign)
      const unwanted = [...busy, ...placed.started].filter(run => !runs.has(run) && !ended.has(run))
      busy = runs
      placed.started = []
      for (const run of new Set(unwanted))
        if (run !== parseRunNumber(own)) await cancelRun(context, workflows, run)
    },
    async dispatch(order, _, campaign) {
      if (placed.has(order.id)) return
      const taken = listWaitingOrders(campaign).flatMap(live =>
        placed.findRun(live) === own ? [live.order] : [],
      )
      const isJoinable = canJoin(campaign, taken, order)
      if (role.does === 'measure' && isJoinable) return placed.put([order], own)
      const orders = listJoinableOrders(campaign, order, placed)
      const branch = toShortRef(context.refs.optimize)
      const title = formatRunTitle(campaign, orders)
      const run = await workflows.start({ branch, inputs: { title } })
      placed.put(orders, run === null ? null : formatActionsRunId(run, FIRST_ATTEMPT))
      started.push({ run, title })
      if (run !== null) placed.started.push(run)
    },
    // `tidy` cancels the run once the ledger has dropped its orders.
    cancel: async () => {},
    listTakenOrders(campaign) {
      if (role.does !== 'measure') return []
      return listWaitingOrders(campaign).filter(({ run_id, printed }) => run_id === own && printed === null)
    },
    started,
    unscored,
    get hadNoIdea() {
      return reader.hadNoIdea
    },
    ...NOTHING_HERE,
  }
}

/** Orders that this process assigned to a run, before the ledger records it. */
class PlacedOrders {
  readonly #runs = new Map<OrderId, string | null>()
  started: number[] = []

  has(order: OrderId, runId?: string): boolean {
    return runId === undefined ? this.#runs.has(order) : this.#runs.get(order) === runId
  }

  /** Returns undefined when no run has the order; null when the server did not name its run. */
  findRun({ order, run_id }: LiveOrder): string | null | undefined {
    return run_id ?? this.#runs.get(order.id)
  }

  listRuns(campaign: Campaign): Set<number> {
    const runIds = listWaitingOrders(campaign).flatMap(live =>
      live.printed === null ? (this.findRun(live) ?? []) : [],
    )
    return new Set(runIds.map(parseRunNumber))
  }

  put(orders: readonly Order[], runId: string | null): void {
    for (const { id } of orders) this.#runs.set(id, runId)
  }
}

function listJoinableOrders(campaign: Campaign, first: Order, placed: PlacedOrders): Order[] {
  const orders = [first]
  for (const live of listWaitingOrders(campaign)) {
    const { order } = live
    const waits = order.id !== first.id && placed.findRun(live) === undefined
    if (waits && canJoin(campaign, orders, order)) orders.push(order)
  }
  return orders
}

/** An order that measures an outsider's code never shares a run. */
function canJoin(campaign: Campaign, others: readonly Order[], order: Order): boolean {
  if (others.length === 0) return true
  if (others.length >= MAX_ORDERS_PER_RUN) return false
  const labels = [order, ...others].flatMap(({ candidates }) => candidates.map(({ label }) => label))
  return labels.every(label => (findSubject(campaign, label)?.needs_permission ?? null) === null)
}

async function cancelRun(
  { progress }: ActionsRunnerContext,
  workflows: Workflows,
  run: number,
): Promise<void> {
  try {
    await workflows.cancel(run)
  } catch (error) {
    if (!isRefusal(error)) throw error
    progress.say(`Workflow run ${run} was not cancelled: ${error.message}`)
  }
}

// Reports of runs

interface ReportContext extends Pick<ActionsRunnerContext, 'repository' | 'by'> {
  workflows: Workflows
  role: RunRole
  mayJudge: boolean
  lookAt: ReadRun
  unscored: UnscoredOrders
  ended: Set<number>
  /** Artifacts of earlier runs with measured orders that wait for scores. */
  artifacts: Map<number, RunArtifacts>
}

/** Asks GitHub once for each run. Fetches artifacts only of runs whose jobs reported a digest. */
async function readRunReport(
  context: ReportContext,
  campaign: Campaign,
  live: LiveOrder,
  runId: string,
): Promise<RunFacts> {
  if (live.printed !== null) return readPrintedItems(context, campaign, live, live.printed)
  if (runId === getJobRunId(context)) return readOwnReport(context, campaign, live)
  const number = parseRunNumber(runId)
  const isGone = (await context.lookAt(number)) === null
  const why = await explainEndedRun(runId, context.lookAt)
  if (!isGone && why === null) return { state: 'running', runId }
  context.ended.add(number)
  return toGoneFact(runId, why ?? `workflow run ${number} no longer exists`)
}

async function readOwnReport(
  { repository, role, unscored, by }: ReportContext,
  campaign: Campaign,
  live: LiveOrder,
): Promise<RunFacts> {
  const runId = getJobRunId({ by })
  const run = parseRunNumber(runId)
  if (role.does === 'measure') return { state: 'running', runId }
  if (role.does === 'start')
    return toGoneFact(runId, `workflow run ${run} was rerun, and its first attempt left no report`)
  const { order } = live
  const job = role.ended.measured.get(order.id)
  if (job === undefined)
    return toGoneFact(runId, `workflow run ${run} ended without a job that measured the order`)
  const missing = `its job in workflow run ${run} ended (${job.status || 'not started'}) and left no report`
  if (job.digest === null) return toGoneFact(runId, missing)
  const wanted = { order: order.id, run: runId }
  if (job.status !== 'success') {
    const entry = partialEntrySchema
    const read = await readReportEntry(role.artifacts, job, { ...wanted, content: 'partial', entry })
    if ('unusable' in read)
      return toGoneFact(runId, `${missing}; its partial report is lost: ${read.unusable}`)
    const { key: _, ...partial } = read
    return { ...toGoneFact(runId, missing), partial }
  }
  const spec = await readSpecForOrder(repository, campaign, order)
  if (isJudgedOrder(order, spec)) {
    const read = await readPrintedEntry(role.artifacts, job, wanted)
    if ('unusable' in read) return { state: 'unreadable', runId, reason: read.unusable }
    return takePrintedOrder(unscored, live, spec, { printed: read, digest: job.digest })
  }
  const entry = reportEntrySchema
  const read = await readReportEntry(role.artifacts, job, { ...wanted, content: 'report', entry })
  if ('unusable' in read) return { state: 'unreadable', runId, reason: read.unusable }
  return { state: 'reported', runId, report: read.report }
}

/** Fetches the printed items of an earlier run only if this process uses them. */
async function readPrintedItems(
  { workflows, repository, artifacts, mayJudge, unscored, by }: ReportContext,
  campaign: Campaign,
  live: LiveOrder,
  { run_id: runId, digest }: NonNullable<LiveOrder['printed']>,
): Promise<RunFacts> {
  const { order, scores } = live
  const request = findPendingJudging(campaign, order.id)
  const isWanted = request === null ? mayJudge || scores !== null : request.run_id === by.run_id
  if (!isWanted) return { state: 'printed', runId, digest }
  const run = parseRunNumber(runId)
  const names = listWaitingOrders(campaign)
    .filter(each => each.printed?.run_id === runId)
    .map(each => getArtifactName('printed', each.order.id))
  const known = artifacts.get(run) ?? createRunArtifacts(workflows, run, names)
  artifacts.set(run, known)
  const spec = await readSpecForOrder(repository, campaign, order)
  const read = await readPrintedEntry(known, { status: 'success', digest }, { order: order.id, run: runId })
  if ('unusable' in read) return toGoneFact(runId, `the items to score are lost: ${read.unusable}`)
  return takePrintedOrder(unscored, live, spec, { printed: read, digest })
}

async function readPrintedEntry(
  artifacts: RunArtifacts,
  job: EndedJob,
  wanted: { order: OrderId; run: string },
): Promise<PrintedOrder | { unusable: string }> {
  const entry = printedEntrySchema
  const read = await readReportEntry(artifacts, job, { ...wanted, content: 'printed', entry })
  if ('unusable' in read) return read
  const { key: _, ...printed } = read
  return printed
}

function toGoneFact(runId: string, why: string): Extract<RunFacts, { state: 'gone' }> {
  return { state: 'gone', started: true, runId, why }
}
