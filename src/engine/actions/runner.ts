import type { WorkflowRun, Workflows } from '../../forge/port.ts'
import { isRefusal } from '../../forge/refused.ts'
import { openJudging } from '../../model/fold-judging.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import type { OrderId } from '../../model/ids.ts'
import { isJudgedOrder } from '../../model/judged-order.ts'
import type { Order } from '../../model/order.ts'
import { actionsRunId, reportArtifact } from '../../model/parcel.ts'
import { subjectOf } from '../../model/picked.ts'
import { shortRef } from '../../model/refs.ts'
import type { RunFacts } from '../../plan/world.ts'
import { runTitle } from '../../report/run-names.ts'
import { orderSpec } from '../order-spec.ts'
import type { Place } from '../place.ts'
import { NOTHING_HERE, type Runner } from '../runner.ts'
import type { EndedRun } from './ended-run.ts'
import { runArtifacts, type RunArtifacts } from './run-artifacts.ts'
import { readPartial, readReport } from './run-reports.ts'
import { type Unscored, unscoredOrders } from './scored-order.ts'

/** An order is measured by the first attempt of one run: another attempt would be another roll of the dice. */
export const FIRST_ATTEMPT = 1
/** The matrix of the workflow file has as many slots. */
export const MOST_ORDERS_A_RUN = 20
const OURS = /^actions:(\d+)\/1$/

/** What the run of this process does about orders. */
export type RunRole =
  /** Runs on the default branch, and later attempts, measure nothing: they start runs. */
  | { does: 'start' }
  /** Its own jobs measure what this tick takes. */
  | { does: 'measure' }
  /** Its own jobs have ended. */
  | { does: 'settle'; ended: EndedRun; artifacts: RunArtifacts }

export interface ActionsRunner extends Runner, Unscored {
  /** Orders that this run's own jobs measure, in the order of their issue. */
  takenOrders(campaign: Campaign): LiveOrder[]
  /** Whether this process has started a run, which looks at everything again. */
  readonly hasStarted: boolean
}

interface Options {
  role: RunRole
  /** Models are asked by a job that follows, which needs what was printed. */
  mayJudge: boolean
}

/**
 * Runs orders as jobs of workflow runs. Which run has an order is recorded in the ledger, so nothing is searched for:
 * a run that was started and not recorded takes the undispatched orders itself. Lives as long as one tick.
 */
export function actionsRunner(
  place: Pick<Place, 'refs' | 'repository' | 'by' | 'progress'>,
  workflows: Workflows,
  { role, mayJudge }: Options,
): ActionsRunner {
  const own = `${place.by.run_id}/${FIRST_ATTEMPT}`
  const branch = shortRef(place.refs.optimize)
  /** Orders that this process gave to a run; null where the server did not name the run. */
  const given = new Map<OrderId, string | null>()
  const started = new Set<number>()
  const looked = new Map<number, Promise<WorkflowRun | null>>()
  const others = new Map<number, RunArtifacts>()
  /** Runs that had orders at an earlier look. */
  let busy = new Set<number>()
  const endedRuns = new Set<number>()
  const unscored = unscoredOrders()

  function lookAt(run: number): Promise<WorkflowRun | null> {
    const answer = looked.get(run) ?? workflows.run(run)
    looked.set(run, answer)
    return answer
  }

  /** Of an earlier run, in which orders were measured that wait for scores. */
  function artifactsOf(campaign: Campaign, runId: string): RunArtifacts {
    const run = numberOf(runId)
    const printed = waitedFor(campaign).filter(live => live.printed?.run_id === runId)
    const names = printed.map(({ order }) => reportArtifact(order.id))
    const known = others.get(run) ?? runArtifacts(workflows, run, names)
    others.set(run, known)
    return known
  }

  function runWith({ order, run_id }: LiveOrder): string | null {
    return run_id ?? given.get(order.id) ?? null
  }

  async function factOf(campaign: Campaign, live: LiveOrder): Promise<RunFacts | null> {
    const { order, run_id: runId, printed } = live
    if (runId === null) {
      const run = given.get(order.id)
      if (run === undefined) return null
      return run === null ? { state: 'waiting' } : { state: 'running', runId: run }
    }
    if (printed !== null) return printedFact(campaign, live, printed)
    if (runId === own) return ownFact(campaign, live)
    const run = await lookAt(numberOf(runId))
    if (run?.conclusion === null) return { state: 'running', runId }
    endedRuns.add(numberOf(runId))
    if (run === null) return gone(runId, `workflow run ${numberOf(runId)} is not there any more`)
    return gone(runId, `workflow run ${run.id} ended (${run.conclusion}) and its report was not taken in`)
  }

  async function ownFact(campaign: Campaign, live: LiveOrder): Promise<RunFacts> {
    const run = numberOf(own)
    if (role.does === 'measure') return { state: 'running', runId: own }
    if (role.does === 'start')
      return gone(own, `workflow run ${run} was started again, and its first attempt left no report`)
    const { order } = live
    const { ended, artifacts } = role
    const job = ended.measured.get(order.id)
    if (job === undefined) return gone(own, `workflow run ${run} ended and no job of it measured the order`)
    const { status, digest } = job
    const why = `the job in workflow run ${run} ended (${status || 'not started'}) and left no report`
    if (digest === null) return gone(own, why)
    const wanted = { order: order.id, runId: own, digest }
    if (status !== 'success') {
      const read = await readPartial(artifacts, wanted)
      return read.is === 'partial'
        ? { ...gone(own, why), partial: read.partial }
        : gone(own, `${why}; what it had measured is lost: ${read.reason}`)
    }
    const spec = await orderSpec(place.repository, campaign, order)
    const read = await readReport(artifacts, { ...wanted, judged: isJudgedOrder(order, spec) })
    if (read.is === 'unusable') return { state: 'unreadable', runId: own, reason: read.reason }
    if (read.is === 'report') return { state: 'reported', runId: own, report: read.report }
    return unscored.take(live, spec, { printed: read.printed, digest })
  }

  /** What an earlier run's job printed is fetched only where this process does something with it. */
  async function printedFact(
    campaign: Campaign,
    live: LiveOrder,
    { run_id: runId, digest }: NonNullable<LiveOrder['printed']>,
  ): Promise<RunFacts> {
    const { order, scores } = live
    const asked = openJudging(campaign, order.id)
    const isOwn = asked?.run_id === place.by.run_id
    if (!isOwn && !(mayJudge && asked === null) && scores === null) return { state: 'printed', runId, digest }
    const spec = await orderSpec(place.repository, campaign, order)
    const wanted = { order: order.id, runId, digest, judged: true }
    const read = await readReport(artifactsOf(campaign, runId), wanted)
    if (read.is === 'printed') return unscored.take(live, spec, { printed: read.printed, digest })
    const why = read.is === 'unusable' ? read.reason : 'it has no items'
    return gone(runId, `what was to be scored is lost: ${why}`)
  }

  function fitsOwnRun(campaign: Campaign, order: Order): boolean {
    if (role.does !== 'measure') return false
    const taken = waitedFor(campaign).filter(live => runWith(live) === own)
    return canJoin(
      campaign,
      taken.map(live => live.order),
      order,
    )
  }

  /** With all other orders that wait and may share its run. */
  async function startRun(campaign: Campaign, first: Order): Promise<void> {
    const orders = [first]
    for (const { order, run_id } of waitedFor(campaign)) {
      const waits = run_id === null && !given.has(order.id) && order.id !== first.id
      if (waits && canJoin(campaign, orders, order)) orders.push(order)
    }
    const run = await workflows.start({ branch, inputs: { title: runTitle(campaign, orders) } })
    if (run !== null) {
      started.add(run)
      busy.add(run)
    }
    for (const { id } of orders) given.set(id, run === null ? null : actionsRunId(run, FIRST_ATTEMPT))
  }

  return {
    async facts(campaign) {
      const facts = new Map<OrderId, RunFacts>()
      for (const live of waitedFor(campaign)) {
        const fact = await factOf(campaign, live)
        if (fact !== null) facts.set(live.order.id, fact)
      }
      return facts
    },
    /** Cancels runs of which the ledger waits for no order any more. */
    async tidy(campaign) {
      const measuring = waitedFor(campaign).filter(({ printed }) => printed === null)
      const runs = new Set(measuring.flatMap(live => runWith(live) ?? []).map(numberOf))
      for (const run of busy) {
        if (runs.has(run) || endedRuns.has(run) || run === numberOf(own)) continue
        await cancel(run)
      }
      busy = runs
    },
    async dispatch(order, _, campaign) {
      if (given.has(order.id)) return
      if (fitsOwnRun(campaign, order)) given.set(order.id, own)
      else await startRun(campaign, order)
    },
    // `tidy` does it, once the ledger says so.
    cancel: async () => {},
    takenOrders(campaign) {
      if (role.does !== 'measure') return []
      return waitedFor(campaign).filter(({ run_id, printed }) => run_id === own && printed === null)
    },
    get hasStarted() {
      return started.size > 0 || [...given.values()].includes(null)
    },
    printed: order => unscored.printed(order),
    due: order => unscored.due(order),
    ...NOTHING_HERE,
  }

  async function cancel(run: number): Promise<void> {
    try {
      await workflows.cancel(run)
    } catch (error) {
      if (!isRefusal(error)) throw error
      place.progress.say(`Workflow run ${run} was not cancelled: ${error.message}`)
    }
  }
}

/** Orders of different trust never share a run, and code of an outsider shares one with nothing. */
function canJoin(campaign: Campaign, others: readonly Order[], order: Order): boolean {
  if (others.length === 0) return true
  if (others.length >= MOST_ORDERS_A_RUN) return false
  return [order, ...others].every(each => !isOutsiders(campaign, each))
}

/** Whether it measures code that somebody without write access brought. */
function isOutsiders(campaign: Campaign, { candidates }: Order): boolean {
  return candidates.some(({ label }) => (subjectOf(campaign, label)?.stranger ?? null) !== null)
}

/** Orders of local runs are theirs. */
function waitedFor({ orders }: Campaign): LiveOrder[] {
  return Object.values(orders).filter(
    ({ report, run_id }) => report === null && (run_id === null || OURS.test(run_id)),
  )
}

function numberOf(runId: string): number {
  return Number(OURS.exec(runId)?.[1])
}

function gone(runId: string, why: string): Extract<RunFacts, { state: 'gone' }> {
  return { state: 'gone', started: true, runId, why }
}
