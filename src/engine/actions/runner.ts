import type { Workflows, WorkflowRun } from '../../forge/port.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import type { OrderId } from '../../model/ids.ts'
import { actionsRunId } from '../../model/parcel.ts'
import { shortRef } from '../../model/refs.ts'
import type { RunFacts } from '../../plan/world.ts'
import { isJudgedOrder } from '../../model/judged-order.ts'
import { orderSpec } from '../order-spec.ts'
import { reportReader } from './artifact-report.ts'
import { type Unscored, unscoredOrders } from './scored-order.ts'
import type { Place } from '../place.ts'
import { NOTHING_HERE, type Runner } from '../runner.ts'

export const MEASURE_WORKFLOW = 'winnow-measure.yml'

/** An order is measured by the first attempt of one run: another attempt would be another roll of the dice. */
export const FIRST_ATTEMPT = 1
const OURS = /^actions:(\d+)\/1$/

export interface ActionsRunner extends Runner, Unscored {
  /** Runs that had not ended when they were listed, but for those that this process has cancelled. */
  underWay(): Promise<WorkflowRun[]>
}

/**
 * Runs orders as workflow runs, each named by its order. Lives as long as one tick: what runs there is looked at once,
 * and again only where an order turns up that somebody else has issued meanwhile.
 */
export function actionsRunner(
  place: Pick<Place, 'name' | 'refs' | 'repository'>,
  workflows: Workflows,
): ActionsRunner {
  const origin = { workflow: MEASURE_WORKFLOW, branch: shortRef(place.refs.optimize) }
  const reports = reportReader(workflows)
  const known = new Set<OrderId>()
  /** Asked for by this process. */
  const asked = new Map<OrderId, number>()
  /** Found there. */
  const seen = new Map<OrderId, number>()
  const cancelled = new Set<number>()
  const unscored = unscoredOrders()
  let listed: Promise<WorkflowRun[]> | null = null

  function list(): Promise<WorkflowRun[]> {
    return (listed ??= workflows.runs(origin))
  }

  /** The run that the ledger names; where it names none yet, the first one of that name. */
  async function runOf({ order, run_id }: LiveOrder): Promise<WorkflowRun | 'gone' | null> {
    if (run_id === null) return (await list()).findLast(({ name }) => name === order.id) ?? null
    const recorded = idIn(run_id)
    const found = (await list()).find(({ id }) => id === recorded)
    return found ?? (await workflows.run(recorded, origin)) ?? 'gone'
  }

  async function factOf(campaign: Campaign, live: LiveOrder): Promise<RunFacts | null> {
    const own = asked.get(live.order.id)
    // Just asked for: it may not be listed yet, and cannot have ended.
    if (own !== undefined) return { state: 'running', runId: actionsRunId(own, FIRST_ATTEMPT) }
    const run = await runOf(live)
    if (run === null) return null
    if (run === 'gone') {
      const why = `its workflow run ${live.run_id} is not there any more`
      return { state: 'gone', started: true, runId: live.run_id, why }
    }
    if (run.conclusion === null) seen.set(live.order.id, run.id)
    const runId = actionsRunId(run.id, FIRST_ATTEMPT)
    if (run.conclusion === null && run.attempt === FIRST_ATTEMPT) return { state: 'running', runId }
    const spec = await orderSpec(place.repository, campaign, live.order)
    const read = await reports.of({ id: live.order.id, judged: isJudgedOrder(live.order, spec) }, run)
    if (read?.state === 'printed') return unscored.take(live, spec, read.printed)
    return read ?? { state: 'gone', started: true, runId, why: whyNothing(run) }
  }

  return {
    async facts(campaign) {
      const facts = new Map<OrderId, RunFacts>()
      for (const live of waitedFor(campaign)) {
        // Nobody but this process knows yet of what turns up here first: it is about to be issued.
        if (!known.has(live.order.id)) continue
        const fact = await factOf(campaign, live)
        if (fact !== null) facts.set(live.order.id, fact)
      }
      return facts
    },
    async tidy(campaign) {
      for (const { order } of waitedFor(campaign)) {
        if (known.has(order.id)) continue
        known.add(order.id)
        if (!asked.has(order.id)) listed = null
      }
    },
    async dispatch(order) {
      if (asked.has(order.id)) return
      const inputs = { campaign: place.name, order: order.id }
      asked.set(order.id, await workflows.dispatch({ ...origin, name: order.id, inputs }))
    },
    async cancel(order) {
      const run = asked.get(order) ?? seen.get(order)
      if (run === undefined) return
      cancelled.add(run)
      await workflows.cancel(run)
    },
    async underWay() {
      // Runs that were just asked for wake the next tick when they end: that one looks.
      if (listed === null && asked.size > 0) return []
      return (await list()).filter(({ id, conclusion }) => conclusion === null && !cancelled.has(id))
    },
    printed: order => unscored.printed(order),
    due: order => unscored.due(order),
    ...NOTHING_HERE,
  }
}

/** Orders of local runs are theirs. */
function waitedFor({ orders }: Campaign): LiveOrder[] {
  return Object.values(orders).filter(
    ({ report, run_id }) => report === null && (run_id === null || OURS.test(run_id)),
  )
}

function idIn(runId: string): number {
  return Number(OURS.exec(runId)?.[1])
}

function whyNothing({ id, conclusion, attempt }: WorkflowRun): string {
  if (attempt > FIRST_ATTEMPT)
    return `workflow run ${id} was started again, and its first attempt left no report`
  return `workflow run ${id} ended (${conclusion}) and left no report`
}
