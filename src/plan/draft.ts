import { findPendingJudging, listDisabledProposers } from '../model/fold/proposers.ts'
import type { OrderId } from '../model/ids.ts'
import type { Plan, PlanAction, PlanStep, PlanWaiting } from './action.ts'
import { describeNeededApprovals } from './approvals.ts'
import { describePullLimit } from './intake.ts'
import { listPrintedOrders } from './judging.ts'
import { dispatchOrder, draftOrders, type OrderRequest } from './orders.ts'
import { describeNeededPermissions } from './permissions.ts'
import { findMeasuringRest, listLocalRequests } from './proposals.ts'
import type { IncomingReports } from './reports.ts'
import { hasNothingToMeasure } from './stop.ts'
import { describeNeededSync } from './sync.ts'
import type { World } from './world.ts'

export interface PlanDraft {
  world: World
  incoming: IncomingReports
  steps: PlanStep[]
  actions: PlanAction[]
}

type DraftAddition = Partial<
  Readonly<Record<'steps', readonly PlanStep[]> & Record<'actions', readonly PlanAction[]>>
>

export function addToDraft(draft: PlanDraft, { steps = [], actions = [] }: DraftAddition): PlanDraft {
  return { ...draft, steps: [...draft.steps, ...steps], actions: [...draft.actions, ...actions] }
}

export function dispatchIdle({ world, incoming }: PlanDraft): { steps: PlanStep[]; actions: PlanAction[] } {
  const dispatched = incoming.idle.map(order => dispatchOrder(world, order))
  return {
    steps: dispatched.flatMap(({ steps }) => steps),
    actions: dispatched.flatMap(({ actions }) => actions),
  }
}

export function issueOrders(draft: PlanDraft, requests: readonly OrderRequest[], why: string | null): Plan {
  const pauseReason = requests.length === 0 ? null : findMeasuringRest(draft.world)
  const orders = draftOrders(draft.world, pauseReason === null ? [...requests] : [])
  const what = pauseReason ?? why
  const waiting = what === null ? findWaiting(draft.world) : ({ for: 'person', what } as const)
  return finishPlan(addToDraft(draft, orders), waiting)
}

/** A plan without actions says what the campaign waits for. Otherwise the caller observes and plans again. */
export function finishPlan({ incoming, steps: all, actions, world }: PlanDraft, waiting?: PlanWaiting): Plan {
  const refused = world.refusedDispatches ?? new Set()
  const effects = actions.filter(action => action.do !== 'dispatch' || !refused.has(action.order))
  const then: PlanAction[] = all.length > 0 ? [{ do: 'commit', steps: all }, ...effects] : effects
  if (then.length > 0) return { actions: then, waiting: null }
  const idle = new Set(incoming.idle.filter(order => !refused.has(order)))
  const notAwaited = collectOrdersNotAwaited(world)
  const orders = Object.keys(world.campaign.orders).filter(
    id => !incoming.reports.has(id) && !idle.has(id) && !notAwaited.has(id),
  )
  if (orders.length > 0) return { actions: then, waiting: buildOrderWaiting(world, orders) }
  // A separate job can still answer a stopped campaign, and no process has to wait for it.
  const asking = world.campaign.status === 'stopped' ? listLocalRequests(world) : world.asking
  return { actions: then, waiting: asking.length > 0 ? { for: 'proposers', who: asking } : (waiting ?? null) }
}

/** A campaign that does not run requests no scores, so orders without a pending request are not awaited. */
function collectOrdersNotAwaited(world: World): Set<OrderId> {
  const { campaign } = world
  if (campaign.status === 'running') return new Set()
  const printed = listPrintedOrders(world).map(({ order: { id } }) => id)
  return new Set(printed.filter(id => findPendingJudging(campaign, id) === null))
}

function buildOrderWaiting(world: World, orders: OrderId[]): PlanWaiting {
  const printed = new Map(listPrintedOrders(world).map(({ order, scores }) => [order.id, scores]))
  if (!orders.every(id => printed.has(id))) return { for: 'orders', orders }
  const [reason = null] = orders.flatMap(id => printed.get(id)?.ended?.reason ?? [])
  return { for: 'judges', orders, reason }
}

function findWaiting(world: World): PlanWaiting {
  const needed = [
    describeNeededApprovals(world),
    describeNeededPermissions(world),
    describeNeededSync(world),
  ].filter(what => what !== null)
  const limit = describePullLimit(world)
  if (needed.length > 0 && (limit !== null || hasNothingToMeasure(world)))
    return { for: 'person', what: [...needed, ...(limit === null ? [] : [limit])].join('. ') }
  if (limit !== null) return { for: 'limit', what: limit }
  const disabled = listDisabledProposers(world.campaign)
  return disabled.length === 0 ? { for: 'ideas' } : { for: 'ideas', disabled }
}
