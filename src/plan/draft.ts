import { openJudging } from '../model/fold-judging.ts'
import { disabledProposers } from '../model/fold-proposer.ts'
import type { OrderId } from '../model/ids.ts'
import type { Action, Plan, Step, Waiting } from './action.ts'
import { approvalsNeeded } from './approvals.ts'
import type { Arrivals } from './arrivals.ts'
import { askedHere } from './asked-elsewhere.ts'
import { findMeasuringRest } from './fruitless-runs.ts'
import { limitText } from './intake.ts'
import { printedOrders } from './judged-elsewhere.ts'
import { dispatch, issue, type Request } from './orders.ts'
import { dispatchKey, withoutRepeats } from './repeats.ts'
import { nothingToMeasure } from './stop.ts'
import { permissionsNeeded } from './strangers.ts'
import { syncNeeded } from './sync-awaited.ts'
import type { World } from './world.ts'

/** What this plan has come to so far: each part adds to it, and the first that must be written ends it. */
export interface Draft {
  world: World
  found: Arrivals
  steps: Step[]
  actions: Action[]
}

type Added = Partial<Readonly<Record<'steps', readonly Step[]> & Record<'actions', readonly Action[]>>>

export function addToDraft(draft: Draft, { steps = [], actions = [] }: Added): Draft {
  return { ...draft, steps: [...draft.steps, ...steps], actions: [...draft.actions, ...actions] }
}

/** Orders that nothing has begun to measure are dispatched anew. */
export function dispatchIdle({ world, found }: Draft): { steps: Step[]; actions: Action[] } {
  const sent = found.idle.map(order => dispatch(world, order))
  return { steps: sent.flatMap(({ steps }) => steps), actions: sent.flatMap(({ actions }) => actions) }
}

export function request(draft: Draft, requests: readonly Request[], why: string | null): Plan {
  const rest = requests.length === 0 ? null : findMeasuringRest(draft.world)
  const orders = issue(draft.world, rest === null ? [...requests] : [])
  const what = rest ?? why
  const waiting = what === null ? waitingFor(draft.world) : ({ for: 'person', what } as const)
  return conclude(addToDraft(draft, orders), waiting)
}

/** Where there is nothing to do, there is something to wait for; a plan that does something is looked at again. */
export function conclude({ found, steps: all, actions, world }: Draft, waiting?: Waiting): Plan {
  const effects = withoutRepeats(actions, world.done)
  const then: Action[] = all.length > 0 ? [{ do: 'commit', steps: all }, ...effects] : effects
  if (then.length > 0) return { actions: then, waiting: null }
  const idle = new Set(found.idle.filter(order => world.done?.has(dispatchKey(order)) !== true))
  const resting = ordersAtRest(world)
  const orders = Object.keys(world.campaign.orders).filter(
    id => !found.reports.has(id) && !idle.has(id) && !resting.has(id),
  )
  if (orders.length > 0) return { actions: then, waiting: waitingForOrders(world, orders) }
  // A job of its own answers a campaign that stopped as well, and nobody need wait for that.
  const asking = world.campaign.status === 'stopped' ? askedHere(world) : world.asking
  return { actions: then, waiting: asking.length > 0 ? { for: 'proposers', who: asking } : (waiting ?? null) }
}

/** Nobody has them scored before the campaign goes on: what that waits for is what is waited for. */
function ordersAtRest(world: World): Set<OrderId> {
  const { campaign } = world
  if (campaign.status === 'running') return new Set()
  const printed = printedOrders(world).map(({ order: { id } }) => id)
  return new Set(printed.filter(id => openJudging(campaign, id) === null))
}

function waitingForOrders(world: World, orders: OrderId[]): Waiting {
  const printed = new Map(printedOrders(world).map(({ order, scores }) => [order.id, scores]))
  if (!orders.every(id => printed.has(id))) return { for: 'orders', orders }
  const [reason = null] = orders.flatMap(id => printed.get(id)?.ended?.reason ?? [])
  return { for: 'judges', orders, reason }
}

function waitingFor(world: World): Waiting {
  const needed = [approvalsNeeded(world), permissionsNeeded(world), syncNeeded(world)].filter(
    what => what !== null,
  )
  const limit = limitText(world)
  if (needed.length > 0 && (limit !== null || nothingToMeasure(world)))
    return { for: 'person', what: [...needed, ...(limit === null ? [] : [limit])].join('. ') }
  if (limit !== null) return { for: 'limit', what: limit }
  const disabled = disabledProposers(world.campaign)
  return disabled.length === 0 ? { for: 'ideas' } : { for: 'ideas', disabled }
}
