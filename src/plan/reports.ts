import type { LiveOrder } from '../model/campaign.ts'
import { computeEventId } from '../model/event.ts'
import type { EventId, OrderId } from '../model/ids.ts'
import {
  isFollowingCoins,
  isJudgedOrder,
  isPairRule,
  isPartialFollowingCoins,
  type Order,
} from '../model/order.ts'
import type { PartialReport } from '../model/pairs.ts'
import type { ModelCost, Report } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { type PlanAction, type PlanStep, reportWaitingRun } from './action.ts'
import { NO_COST } from './money.ts'
import { toEventStep } from './requests.ts'
import type { RunFacts, RunTraces, World } from './world.ts'

type EventStep = Extract<PlanStep, { step: 'event' }>

export interface IncomingReports {
  steps: PlanStep[]
  actions: PlanAction[]
  reports: Map<OrderId, { event: EventId; report: Report }>
  /** Orders given up in this plan: the next plan queues their experiments again. */
  lost: Set<OrderId>
  /** Orders that no run has begun to measure: dispatched unchanged, unless the campaign is paused. */
  idle: OrderId[]
}

export function readReports(world: World): IncomingReports {
  const incoming: IncomingReports = { steps: [], actions: [], reports: new Map(), lost: new Set(), idle: [] }
  for (const live of Object.values(world.campaign.orders)) {
    if (live.report) incoming.reports.set(live.order.id, live.report)
    else readRun(world, live, incoming)
  }
  return incoming
}

function readRun(world: World, live: LiveOrder, incoming: IncomingReports): void {
  const run = world.runs.get(live.order.id)
  if (!run)
    return live.run_id === null
      ? void incoming.idle.push(live.order.id)
      : expireOrder(world, live, incoming, {})
  if (world.runner.runId === null) incoming.steps.push(...recordRunId(live, run))
  switch (run.state) {
    case 'running':
      return run.queued === true ? undefined : expireOrder(world, live, incoming, run)
    case 'waiting':
      return
    // Measured in time: no deadline applies to models.
    case 'printed':
      return void incoming.steps.push(...recordPrinted(live, run))
    case 'gone':
      if (!run.started) return void incoming.idle.push(live.order.id)
      return dropLostOrder(world, live, incoming, {
        reason: run.why ?? 'the process that measured it ended early',
        partial: run.partial,
        cost: run.cost,
      })
    case 'unreadable':
      return rejectReport(world, live, incoming, run)
    case 'reported':
      return acceptReport(world, live, incoming, run)
  }
}

/** A run on GitHub gets its id there, which is recorded as soon as it is known. */
function recordRunId({ order: { id }, run_id: known }: LiveOrder, run: RunFacts): PlanStep[] {
  const run_id = 'runId' in run ? run.runId : undefined
  if (known !== null || run_id === undefined || run_id === null) return []
  return [{ step: 'event', draft: { kind: 'order-dispatched', cause: id, order: id, run_id } }]
}

/** A later run that hands the items to models finds them by this digest. */
function recordPrinted(
  { order: { id }, printed: known }: LiveOrder,
  { runId: run_id, digest }: Extract<RunFacts, { state: 'printed' }>,
): PlanStep[] {
  if (known !== null) return []
  return [{ step: 'event', draft: { kind: 'order-printed', cause: id, order: id, run_id, digest } }]
}

/** The wait for other processes before it began does not count. */
function expireOrder(
  world: World,
  live: LiveOrder,
  incoming: IncomingReports,
  { partial, cost, waitedSeconds = 0 }: RunTraces,
): void {
  if (!(Date.parse(world.now) >= Date.parse(live.order.deadline) + 1000 * waitedSeconds))
    return void incoming.steps.push(...reportWaitingRun(world, live, incoming.steps))
  incoming.actions.push({ do: 'cancel', order: live.order.id })
  const reason = `no report by its deadline, ${live.order.deadline}`
  dropLostOrder(world, live, incoming, { reason, partial, cost })
}

interface RunLoss {
  reason: string
  partial?: PartialReport | undefined
  cost?: ModelCost | undefined
}

function dropLostOrder(world: World, { order }: LiveOrder, incoming: IncomingReports, loss: RunLoss): void {
  incoming.lost.add(order.id)
  incoming.steps.push(...buildLossSteps(world, order, loss))
}

function buildLossSteps(
  { spec }: Pick<World, 'spec'>,
  order: Order,
  { reason, partial, cost }: RunLoss,
): EventStep[] {
  const { id } = order
  const usable = partial !== undefined && explainForeignPartial(order, partial) === null
  const partialField = usable ? { partial: isJudgedOrder(order, spec) ? removeItems(partial) : partial } : {}
  const lost = { kind: 'order-lost', cause: id, order: id, started: true, reason, ...partialField } as const
  return [toEventStep(lost), ...buildLostOrderCharge(spec, order, cost)]
}

/** What its models have cost counts also without a report: where that is unknown, with what was set aside. */
function buildLostOrderCharge(spec: Spec, order: Order, known: ModelCost | undefined): EventStep[] {
  const { id: cause, may_cost_usd: usd } = order
  if (usd === undefined) return []
  const what = isJudgedOrder(order, spec) ? 'judge' : 'measure'
  const cost = known ?? { ...NO_COST, usd }
  return [toEventStep({ kind: 'spent', cause, what, who: null, ok: false, minutes: 0, ...cost })]
}

/** Items that models have not scored prove nothing yet: they are printed again. */
function removeItems({ report }: PartialReport): PartialReport {
  return { report: { ...report, executions: [] }, begun: null }
}

/** Null where a partial report can be of this order. Needs the ledger alone, so that audit can repeat it. */
export function explainForeignPartial(order: Order, partial: PartialReport): string | null {
  const mismatch = explainMismatch(order, partial.report)
  if (mismatch !== null || !isPairRule(order.stop)) return mismatch
  return isPartialFollowingCoins(order, partial) ? null : COINS_NOT_FOLLOWED
}

const COINS_NOT_FOLLOWED = 'its executions do not follow the coins of the order'

function rejectReport(
  { spec }: Pick<World, 'spec'>,
  live: LiveOrder,
  incoming: IncomingReports,
  { runId, reason }: { runId: string; reason: string },
): void {
  const { id } = live.order
  incoming.lost.add(id)
  const rejected = { kind: 'report-rejected', cause: id, order: id, run_id: runId, reason } as const
  incoming.steps.push(toEventStep(rejected), ...buildLostOrderCharge(spec, live.order, undefined))
}

function acceptReport(
  world: World,
  live: LiveOrder,
  incoming: IncomingReports,
  run: Extract<RunFacts, { state: 'reported' }>,
): void {
  const isOtherRun = live.run_id !== null && run.runId !== live.run_id
  const mismatch = isOtherRun
    ? `it comes from run ${run.runId}, not ${live.run_id}`
    : explainForeignReport(live.order, run.report)
  const { runId } = run
  if (mismatch !== null) return rejectReport(world, live, incoming, { runId, reason: mismatch })
  const { id } = live.order
  const { report } = run
  const draft = { kind: 'measured', cause: id, order: id, run_id: runId, report } as const
  incoming.reports.set(id, { event: computeEventId(draft), report })
  incoming.steps.push({ step: 'event', draft }, ...recordModelCosts(live, report))
}

/** Recorded once, even if the change is not used. Separate jobs record costs with their answers. */
function recordModelCosts({ order: { id: cause }, scores }: LiveOrder, report: Report): EventStep[] {
  const { judging, metered } = report
  return [
    ['judge', scores === null ? judging : undefined] as const,
    ['measure', metered?.requests === 0 ? undefined : metered] as const,
  ].flatMap(([what, cost]) => {
    if (cost === undefined) return []
    const { model: who, requests, tokens, usd } = cost
    const spent = { kind: 'spent', cause, what, who, ok: true, minutes: 0, requests, tokens, usd } as const
    return [toEventStep(spent)]
  })
}

/** The part of acceptance that audit can repeat from the ledger alone. */
export function explainForeignReport(order: Order, report: Report): string | null {
  const mismatch = explainMismatch(order, report)
  if (mismatch !== null) return mismatch
  return isFollowingCoins(order, report) ? null : COINS_NOT_FOLLOWED
}

export function explainMismatch(order: Order, report: Report): string | null {
  if (report.order !== order.id) return `it answers order ${report.order}`
  if (report.harness !== order.harness) return `it was measured with harness ${report.harness.slice(0, 12)}`
  for (const { label, tree } of [{ label: 'base', tree: order.base.tree }, ...order.candidates]) {
    const measured = report.trees[label]
    if (measured !== undefined && measured !== tree)
      return `${label} was tree ${measured}, the order says ${tree}`
  }
  return null
}

/** Pairs of a cancelled run are kept, so that a person cannot draw them again (decision 039). */
export function interruptRun(world: World, live: LiveOrder, reason: string): EventStep[] {
  const { order, run_id } = live
  if (!isPairRule(order.stop) || live.report !== null) return []
  const run = world.runs.get(order.id)
  if (run === undefined) return run_id === null ? [] : buildLossSteps(world, order, { reason })
  if (run.state !== 'running' || run.queued === true) return []
  const { partial, cost } = run
  // A local run that has begun has left a partial report.
  const begun = partial !== undefined || world.runner.runId === null
  return begun ? buildLossSteps(world, order, { reason, partial, cost }) : []
}
