import type { LiveOrder } from '../model/campaign.ts'
import { type EventDraft, eventId } from '../model/event.ts'
import type { EventId, OrderId } from '../model/ids.ts'
import { countsPairs, type Order } from '../model/order.ts'
import type { Report } from '../model/report.ts'
import { isJudgedOrder } from '../model/judged-order.ts'
import type { PartialReport } from '../model/interruption.ts'
import { followsCoins, followsCoinsSoFar } from '../model/coins.ts'
import type { Action, Step } from './action.ts'
import { alertWaitingRun } from './waiting-runs.ts'
import type { RunFacts, World } from './world.ts'

/** Reports as the rest of the plan sees them: those in the ledger and those this plan is about to write. */
export interface Arrivals {
  steps: Step[]
  actions: Action[]
  reports: Map<OrderId, { event: EventId; report: Report }>
  /** Orders given up in this plan: their experiments queue again in the next one. */
  lost: Set<OrderId>
  /** Orders that nothing has begun to measure: dispatched, unchanged, unless the campaign is paused. */
  idle: OrderId[]
}

export function arrivals(world: World): Arrivals {
  const found: Arrivals = { steps: [], actions: [], reports: new Map(), lost: new Set(), idle: [] }
  for (const live of Object.values(world.campaign.orders)) {
    if (live.report) found.reports.set(live.order.id, live.report)
    else receive(world, live, found)
  }
  return found
}

function receive(world: World, live: LiveOrder, found: Arrivals): void {
  const run = world.runs.get(live.order.id)
  if (!run) return live.run_id === null ? void found.idle.push(live.order.id) : expire(world, live, found, {})
  if (world.runner.runId === null) found.steps.push(...recordedRun(live, run))
  switch (run.state) {
    case 'running':
      return run.queued === true ? undefined : expire(world, live, found, run)
    case 'waiting':
      return
    // It was measured in time, and no deadline is about models.
    case 'printed':
      return void found.steps.push(...recordedPrint(live, run))
    case 'gone':
      return run.started
        ? lose(world, live, found, {
            reason: run.why ?? 'its process ended after measuring had begun',
            partial: run.partial,
          })
        : void found.idle.push(live.order.id)
    case 'unreadable':
      return reject(live, found, run.runId, run.reason)
    case 'reported':
      return accept(live, found, run)
  }
}

/** What runs elsewhere has its id from there: written down as soon as it is known, whoever asked for it. */
function recordedRun({ order: { id }, run_id: known }: LiveOrder, run: RunFacts): Step[] {
  const run_id = 'runId' in run ? run.runId : undefined
  if (known !== null || run_id === undefined || run_id === null) return []
  return [{ step: 'event', draft: { kind: 'order-dispatched', cause: id, order: id, run_id } }]
}

/** A later run hands the items on to models: it finds them by this. */
function recordedPrint(
  { order: { id }, printed: known }: LiveOrder,
  { runId: run_id, digest }: Extract<RunFacts, { state: 'printed' }>,
): Step[] {
  if (known !== null) return []
  return [{ step: 'event', draft: { kind: 'order-printed', cause: id, order: id, run_id, digest } }]
}

type Underway = Pick<Extract<RunFacts, { state: 'running' }>, 'partial' | 'waitedSeconds'>

/** The wait for other processes before it began is not part of its time. */
function expire(
  world: World,
  live: LiveOrder,
  found: Arrivals,
  { partial, waitedSeconds = 0 }: Underway,
): void {
  if (!(Date.parse(world.now) >= Date.parse(live.order.deadline) + 1000 * waitedSeconds))
    return void found.steps.push(...alertWaitingRun(world, live, found.steps))
  found.actions.push({ do: 'cancel', order: live.order.id })
  lose(world, live, found, { reason: `no report by its deadline, ${live.order.deadline}`, partial })
}

interface Loss {
  reason: string
  partial?: PartialReport | undefined
}

function lose(world: World, { order }: LiveOrder, found: Arrivals, loss: Loss): void {
  found.lost.add(order.id)
  found.steps.push(lossStep(world, order, loss))
}

export function lossStep({ spec }: Pick<World, 'spec'>, order: Order, { reason, partial }: Loss) {
  const { id } = order
  const usable = partial !== undefined && whyNotPartialOf(order, partial) === null
  const left = usable ? { partial: isJudgedOrder(order, spec) ? withoutItems(partial) : partial } : {}
  return {
    step: 'event',
    draft: { kind: 'order-lost', cause: id, order: id, started: true, reason, ...left },
  } satisfies Step
}

/** Items that models have not scored show nothing yet: they are printed again. */
function withoutItems({ report }: PartialReport): PartialReport {
  return { report: { ...report, executions: [] }, begun: null }
}

/** Says why a partial report cannot be of this order; null where it can. Needs the ledger alone, so audit repeats it. */
export function whyNotPartialOf(order: Order, partial: PartialReport): string | null {
  const mismatch = whyNotMeasured(order, partial.report)
  if (mismatch !== null || !countsPairs(order.stop)) return mismatch
  return followsCoinsSoFar(order, partial) ? null : 'its executions do not follow the coins of the order'
}

function reject(live: LiveOrder, found: Arrivals, runId: string, reason: string): void {
  const { id } = live.order
  found.lost.add(id)
  found.steps.push({
    step: 'event',
    draft: { kind: 'report-rejected', cause: id, order: id, run_id: runId, reason },
  })
}

function accept(live: LiveOrder, found: Arrivals, run: Extract<RunFacts, { state: 'reported' }>): void {
  const mismatch = whyNotAccepted(live, run)
  if (mismatch !== null) return reject(live, found, run.runId, mismatch)
  const { id } = live.order
  const draft: EventDraft<'measured'> = {
    kind: 'measured',
    cause: id,
    order: id,
    run_id: run.runId,
    report: run.report,
  }
  found.reports.set(id, { event: eventId(draft), report: run.report })
  found.steps.push({ step: 'event', draft }, ...judgingCost(live, run.report))
}

/** Recorded once, whatever becomes of what was judged: what jobs of their own spent was, when they told it. */
function judgingCost({ order: { id: order }, scores }: LiveOrder, { judging }: Report): Step[] {
  if (judging === undefined || scores !== null) return []
  const { model, ...cost } = judging
  const what = { kind: 'spent', cause: order, what: 'judge', who: model, ok: true, minutes: 0 } as const
  return [{ step: 'event', draft: { ...what, ...cost } }]
}

function whyNotAccepted(live: LiveOrder, run: Extract<RunFacts, { state: 'reported' }>): string | null {
  if (live.run_id !== null && run.runId !== live.run_id)
    return `it comes from run ${run.runId}, not ${live.run_id}`
  return whyNotReportOf(live.order, run.report)
}

/** The part of acceptance that anybody can check again from the ledger alone. */
export function whyNotReportOf(order: Order, report: Report): string | null {
  const mismatch = whyNotMeasured(order, report)
  if (mismatch !== null) return mismatch
  return followsCoins(order, report) ? null : 'its executions do not follow the coins of the order'
}

/** Whether it is about what the order says, whatever was executed. */
export function whyNotMeasured(order: Order, report: Report): string | null {
  if (report.order !== order.id) return `it answers order ${report.order}`
  if (report.harness !== order.harness) return `it was measured with harness ${report.harness.slice(0, 12)}`
  for (const { label, tree } of [{ label: 'base', tree: order.base.tree }, ...order.candidates]) {
    const measured = report.trees[label]
    if (measured !== undefined && measured !== tree)
      return `${label} was tree ${measured}, the order says ${tree}`
  }
  return null
}
