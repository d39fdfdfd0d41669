import { isRefusal } from '../../github/errors.ts'
import type { Workflows } from '../../github/port.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import { findSubject } from '../../model/experiment.ts'
import { findPendingJudging } from '../../model/fold/proposers.ts'
import { type OrderId, toShortRef } from '../../model/ids.ts'
import { isJudgedOrder, type Order } from '../../model/order.ts'
import { getReportArtifactName, MAX_ORDERS_PER_RUN } from '../../model/report-artifact.ts'
import type { RunFacts } from '../../plan/world.ts'
import { formatRunTitle } from '../../report/github-names.ts'
import type { CampaignContext } from '../campaign/context.ts'
import {
  getJobRunId,
  listWaitingOrders,
  parseRunNumber,
  type ReadRun,
  type RunRole,
  toJobRunId,
} from './github-runs.ts'
import { createUnscoredOrders, type UnscoredOrders } from './judging-job.ts'
import { readSpecForOrder } from './load-order.ts'
import {
  createRunArtifacts,
  type EndedJob,
  readPartial,
  readReport,
  type RunArtifacts,
} from './run-artifacts.ts'
import { NOTHING_HERE, type Runner } from './runner.ts'

export interface ActionsRunner extends Runner, UnscoredOrders {
  /** Orders that this run's own jobs measure, oldest first. */
  listTakenOrders(campaign: Campaign): LiveOrder[]
  /** Runs that this process has started. Each of them observes the campaign again. */
  readonly started: readonly StartedRun[]
}

/** `run` is null when the server did not return its number. */
export interface StartedRun {
  run: number | null
  title: string
}

interface ActionsRunnerOptions {
  role: RunRole
  /** A later job of this run asks models and needs the printed items. */
  mayJudge: boolean
  lookAt: ReadRun
}

type ActionsRunnerContext = Pick<CampaignContext, 'refs' | 'repository' | 'by' | 'progress'>

/**
 * Runs orders as jobs of workflow runs. The ledger names the run of each order. A run that was started but not
 * recorded takes the undispatched orders itself. A runner lives for one tick.
 */
export function createActionsRunner(
  context: ActionsRunnerContext,
  workflows: Workflows,
  options: ActionsRunnerOptions,
): ActionsRunner {
  const { role } = options
  const own = getJobRunId(context)
  const unscored = createUnscoredOrders()
  const reader = createOrderFacts(context, workflows, { ...options, unscored })
  const placed = new PlacedOrders()
  const started: StartedRun[] = []
  /** Runs that had orders at the previous observation. */
  let busy = new Set<number>()

  async function readFact(campaign: Campaign, live: LiveOrder): Promise<RunFacts | null> {
    const runId = placed.findRun(live)
    // A run that this process has just started cannot have ended.
    if (live.run_id !== null && !placed.has(live.order.id, live.run_id))
      return reader.read(campaign, live, live.run_id)
    if (runId === undefined) return null
    return runId === null ? { state: 'waiting' } : { state: 'running', runId }
  }

  return {
    async facts(campaign) {
      const facts = new Map<OrderId, RunFacts>()
      for (const live of listWaitingOrders(campaign)) {
        const fact = await readFact(campaign, live)
        if (fact !== null) facts.set(live.order.id, fact)
      }
      return facts
    },
    /** Cancels runs whose orders the ledger no longer waits for. */
    async tidy(campaign) {
      const runs = new Set<number>()
      for (const live of listWaitingOrders(campaign)) {
        const runId = live.printed === null ? placed.findRun(live) : null
        if (typeof runId === 'string') runs.add(parseRunNumber(runId))
      }
      const unwanted = [...busy, ...placed.started].filter(run => !runs.has(run) && !reader.ended.has(run))
      busy = runs
      placed.started = []
      for (const run of new Set(unwanted))
        if (run !== parseRunNumber(own)) await cancelRun(context, workflows, run)
    },
    async dispatch(order, _, campaign) {
      if (placed.has(order.id)) return
      const taken = listWaitingOrders(campaign).filter(live => placed.findRun(live) === own)
      const isJoinable = canJoin(
        campaign,
        taken.map(live => live.order),
        order,
      )
      if (role.does === 'measure' && isJoinable) return placed.put([order], own)
      const orders = listJoinableOrders(campaign, order, placed)
      const branch = toShortRef(context.refs.optimize)
      const title = formatRunTitle(campaign, orders)
      const run = await workflows.start({ branch, inputs: { title } })
      placed.put(orders, run === null ? null : toJobRunId(run))
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
    printed: order => unscored.printed(order),
    due: order => unscored.due(order),
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

  put(orders: readonly Order[], runId: string | null): void {
    for (const { id } of orders) this.#runs.set(id, runId)
  }
}

/** Returns the order with all waiting orders that may share its run. */
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
  return [order, ...others].every(each => !isOutsiders(campaign, each))
}

function isOutsiders(campaign: Campaign, { candidates }: Order): boolean {
  return candidates.some(({ label }) => (findSubject(campaign, label)?.stranger ?? null) !== null)
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

interface OrderFacts {
  read(campaign: Campaign, live: LiveOrder, runId: string): Promise<RunFacts>
  /** Runs that were found to have ended. */
  readonly ended: ReadonlySet<number>
}

interface OrderFactsOptions {
  role: RunRole
  /** A later job of this run asks models and needs the printed items. */
  mayJudge: boolean
  lookAt: ReadRun
  unscored: ReturnType<typeof createUnscoredOrders>
}

type OrderFactsContext = Pick<CampaignContext, 'repository' | 'by'>

/**
 * Reads the state of orders: GitHub once for each run, and artifacts of runs whose jobs reported a digest.
 */
function createOrderFacts(
  context: OrderFactsContext,
  workflows: Workflows,
  options: OrderFactsOptions,
): OrderFacts {
  const own = getJobRunId(context)
  const others = new Map<number, RunArtifacts>()
  const ended = new Set<number>()

  /** Artifacts of an earlier run with measured orders that wait for scores. */
  function findArtifacts(campaign: Campaign, runId: string): RunArtifacts {
    const run = parseRunNumber(runId)
    const printed = listWaitingOrders(campaign).filter(live => live.printed?.run_id === runId)
    const names = printed.map(({ order }) => getReportArtifactName(order.id))
    const known = others.get(run) ?? createRunArtifacts(workflows, run, names)
    others.set(run, known)
    return known
  }

  async function readOtherFact(runId: string): Promise<RunFacts> {
    const number = parseRunNumber(runId)
    const run = await options.lookAt(number)
    if (run?.conclusion === null) return { state: 'running', runId }
    ended.add(number)
    if (run === null) return toGoneFact(runId, `workflow run ${number} is not there any more`)
    return toGoneFact(
      runId,
      `workflow run ${number} ended (${run.conclusion}) and its report was not taken in`,
    )
  }

  return {
    ended,
    async read(campaign, live, runId) {
      const { printed } = live
      if (printed !== null) {
        const artifacts = () => findArtifacts(campaign, printed.run_id)
        return readPrintedFact(context, options, { campaign, live, printed, artifacts })
      }
      if (runId !== own) return readOtherFact(runId)
      return readOwnFact(context, options, campaign, live)
    },
  }
}

async function readOwnFact(
  context: OrderFactsContext,
  { role, unscored }: OrderFactsOptions,
  campaign: Campaign,
  live: LiveOrder,
): Promise<RunFacts> {
  const runId = getJobRunId(context)
  const run = parseRunNumber(runId)
  if (role.does === 'measure') return { state: 'running', runId }
  if (role.does === 'start')
    return toGoneFact(runId, `workflow run ${run} was started again, and its first attempt left no report`)
  const { order } = live
  const { ended, artifacts } = role
  const job = ended.measured.get(order.id)
  if (job === undefined)
    return toGoneFact(runId, `workflow run ${run} ended, and no job of it measured the order`)
  const { status, digest } = job
  if (digest === null) return toGoneFact(runId, describeMissingReport(run, job))
  const wanted = { order: order.id, runId, digest }
  if (status !== 'success') {
    const read = await readPartial(artifacts, wanted)
    if (read.is === 'partial')
      return { ...toGoneFact(runId, describeMissingReport(run, job)), partial: read.partial }
    return toGoneFact(
      runId,
      `${describeMissingReport(run, job)}; what it had measured is lost: ${read.reason}`,
    )
  }
  const spec = await readSpecForOrder(context.repository, campaign, order)
  const read = await readReport(artifacts, { ...wanted, judged: isJudgedOrder(order, spec) })
  if (read.is === 'unusable') return { state: 'unreadable', runId, reason: read.reason }
  if (read.is === 'report') return { state: 'reported', runId, report: read.report }
  return unscored.take(live, spec, { printed: read.printed, digest })
}

function describeMissingReport(run: number, { status }: EndedJob): string {
  return `its job in workflow run ${run} ended (${status || 'not started'}) and left no report`
}

interface PrintedReport {
  campaign: Campaign
  live: LiveOrder
  printed: NonNullable<LiveOrder['printed']>
  artifacts: () => RunArtifacts
}

/** Fetches the printed items of an earlier run only if this process uses them. */
async function readPrintedFact(
  context: OrderFactsContext,
  { mayJudge, unscored }: OrderFactsOptions,
  { campaign, live, printed, artifacts }: PrintedReport,
): Promise<RunFacts> {
  const { order, scores } = live
  const { run_id: runId, digest } = printed
  const asking = findPendingJudging(campaign, order.id)
  const isWanted = asking === null ? mayJudge || scores !== null : asking.run_id === context.by.run_id
  if (!isWanted) return { state: 'printed', runId, digest }
  const spec = await readSpecForOrder(context.repository, campaign, order)
  const read = await readReport(artifacts(), { order: order.id, runId, digest, judged: true })
  if (read.is === 'printed') return unscored.take(live, spec, { printed: read.printed, digest })
  const why = read.is === 'unusable' ? read.reason : 'it has no items'
  return toGoneFact(runId, `what was to be scored is lost: ${why}`)
}

function toGoneFact(runId: string, why: string): Extract<RunFacts, { state: 'gone' }> {
  return { state: 'gone', started: true, runId, why }
}
