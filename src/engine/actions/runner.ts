import type { Workflows } from '../../forge/port.ts'
import { isRefusal } from '../../forge/refused.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import type { OrderId } from '../../model/ids.ts'
import type { Order } from '../../model/order.ts'
import { MAX_ORDERS_PER_RUN } from '../../model/parcel.ts'
import { findSubject } from '../../model/picked.ts'
import { toShortRef } from '../../model/refs.ts'
import type { RunFacts } from '../../plan/world.ts'
import { formatRunTitle } from '../../report/run-names.ts'
import type { CampaignContext } from '../place.ts'
import { NOTHING_HERE, type Runner } from '../runner.ts'
import { createOrderFacts } from './order-facts.ts'
import type { ReadRun } from './run-lookup.ts'
import { getJobRunId, toJobRunId, parseRunNumber, type RunRole, listWaitingOrders } from './run-role.ts'
import { type UnscoredOrders, createUnscoredOrders } from './scored-order.ts'

export interface ActionsRunner extends Runner, UnscoredOrders {
  /** Orders that this run's own jobs measure, in the order of their issue. */
  listTakenOrders(campaign: Campaign): LiveOrder[]
  /** Runs that this process has started, which look at everything again. */
  readonly started: readonly StartedRun[]
}

/** A run that this process has started; a server may not tell its number. */
export interface StartedRun {
  run: number | null
  title: string
}

interface ActionsRunnerOptions {
  role: RunRole
  /** Models are asked by a job that follows, which needs what was printed. */
  mayJudge: boolean
  lookAt: ReadRun
}

type ActionsRunnerContext = Pick<CampaignContext, 'refs' | 'repository' | 'by' | 'progress'>

/**
 * Runs orders as jobs of workflow runs. The ledger names the run of each order, so nothing is searched for: a run that
 * was started and not recorded takes the undispatched orders itself. Lives as long as one tick.
 */
export function createActionsRunner(
  place: ActionsRunnerContext,
  workflows: Workflows,
  options: ActionsRunnerOptions,
): ActionsRunner {
  const { role } = options
  const own = getJobRunId(place)
  const unscored = createUnscoredOrders()
  const reader = createOrderFacts(place, workflows, { ...options, unscored })
  const placed = new PlacedOrders()
  const started: StartedRun[] = []
  /** Runs that had orders at an earlier look. */
  let busy = new Set<number>()

  async function factOf(campaign: Campaign, live: LiveOrder): Promise<RunFacts | null> {
    const runId = placed.findRun(live)
    // A run that this process has started cannot have ended.
    if (live.run_id !== null && !placed.has(live.order.id, live.run_id))
      return reader.read(campaign, live, live.run_id)
    if (runId === undefined) return null
    return runId === null ? { state: 'waiting' } : { state: 'running', runId }
  }

  return {
    async facts(campaign) {
      const facts = new Map<OrderId, RunFacts>()
      for (const live of listWaitingOrders(campaign)) {
        const fact = await factOf(campaign, live)
        if (fact !== null) facts.set(live.order.id, fact)
      }
      return facts
    },
    /** Cancels runs of which the ledger waits for no order any more. */
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
        if (run !== parseRunNumber(own)) await cancelRun(place, workflows, run)
    },
    async dispatch(order, _, campaign) {
      if (placed.has(order.id)) return
      const taken = listWaitingOrders(campaign).filter(live => placed.findRun(live) === own)
      const joins = canJoin(
        campaign,
        taken.map(live => live.order),
        order,
      )
      if (role.does === 'measure' && joins) return placed.put([order], own)
      const orders = listJoinableOrders(campaign, order, placed)
      const branch = toShortRef(place.refs.optimize)
      const title = formatRunTitle(campaign, orders)
      const run = await workflows.start({ branch, inputs: { title } })
      placed.put(orders, run === null ? null : toJobRunId(run))
      started.push({ run, title })
      if (run !== null) placed.started.push(run)
    },
    // `tidy` does it, once the ledger says so.
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

/** Orders that this process gave to a run, before the ledger says so. */
class PlacedOrders {
  readonly #runs = new Map<OrderId, string | null>()
  /** Runs that this process has started since the last look. */
  started: number[] = []

  has(order: OrderId, runId?: string): boolean {
    return runId === undefined ? this.#runs.has(order) : this.#runs.get(order) === runId
  }

  /** Undefined: no run has it; null: one that the server did not name. */
  findRun({ order, run_id }: LiveOrder): string | null | undefined {
    return run_id ?? this.#runs.get(order.id)
  }

  put(orders: readonly Order[], runId: string | null): void {
    for (const { id } of orders) this.#runs.set(id, runId)
  }
}

/** Everything else that waits and may share its run. */
function listJoinableOrders(campaign: Campaign, first: Order, placed: PlacedOrders): Order[] {
  const orders = [first]
  for (const live of listWaitingOrders(campaign)) {
    const { order } = live
    const waits = order.id !== first.id && placed.findRun(live) === undefined
    if (waits && canJoin(campaign, orders, order)) orders.push(order)
  }
  return orders
}

/** Orders of different trust never share a run, and code of an outsider shares one with nothing. */
function canJoin(campaign: Campaign, others: readonly Order[], order: Order): boolean {
  if (others.length === 0) return true
  if (others.length >= MAX_ORDERS_PER_RUN) return false
  return [order, ...others].every(each => !isOutsiders(campaign, each))
}

/** Whether it measures code that somebody without write access brought. */
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
