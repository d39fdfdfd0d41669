import { judgingStop } from '../decide/stopping.ts'
import type { OrderId } from '../model/ids.ts'
import type { SyncObstacle } from '../model/sync-awaited.ts'
import type { Action, Plan, Step, Waiting } from './action.ts'
import { approvalsNeeded, askApprovals } from './approvals.ts'
import { type Arrivals, arrivals } from './arrivals.ts'
import { askedHere, lostAskings } from './asked-elsewhere.ts'
import { answered, askFor, benchedAlerts, growsYet } from './asking.ts'
import { encoreForPicks, encoreSteps } from './encore.ts'
import { closedIdeas } from './backlog.ts'
import { effectsBeside, effectSteps, lastEffects } from './effects.ts'
import { foreignPlan } from './foreign.ts'
import { greetings } from './greetings.ts'
import { followHeads } from './heads.ts'
import { nothingOpened, openProposals, rateText, refuseQueued } from './intake.ts'
import { lostTooOften } from './lost.ts'
import { landedSteps, landingPlan } from './landing.ts'
import { isSettled } from './only.ts'
import { judgeElsewhere, lostJudgings, printedOrders, toldScores } from './judged-elsewhere.ts'
import { approvalActions, campaignPullActions, campaignPullSteps } from './campaign-pull.ts'
import { dispatch, issue, type Request } from './orders.ts'
import { resumeParked } from './parked.ts'
import { pickFates } from './pick-fates.ts'
import { pickPullActions } from './pick-pulls.ts'
import { pickPlan, pickVerdicts } from './picks.ts'
import { prepare } from './preparation.ts'
import { campaignBranch, pullActions } from './pulls.ts'
import { isLimitRaised, raisedLimitSteps } from './raised-limit.ts'
import { directReverts } from './revert.ts'
import { dispatchKey, withoutRepeats } from './repeats.ts'
import { mergedSteps } from './restart.ts'
import { type RoundPlan, settleRound } from './round.ts'
import { memberRequests, newRound } from './rounds.ts'
import {
  cancelRemaining,
  closeRemaining,
  nothingToMeasure,
  stopFor,
  type StopReason,
  stopStep,
} from './stop.ts'
import { askPermission, permissionsNeeded } from './strangers.ts'
import { syncByHand, syncPlan } from './sync.ts'
import { awaitHopelessSync, awaitRefusedSync, syncNeeded } from './sync-awaited.ts'
import type { World } from './world.ts'

/** What this plan has come to so far: each part adds to it, and the first that must be written ends it. */
interface Draft {
  world: World
  found: Arrivals
  steps: Step[]
  actions: Action[]
}

/**
 * One look at the world, one plan: at most one transaction and what may follow it. It never relies on what an
 * earlier plan intended; whatever is left to do is found again at the next look (invariant 7).
 */
export function plan(world: World): Plan {
  const found = arrivals(world)
  const draft: Draft = {
    world,
    found,
    steps: [
      ...answered(world),
      ...lostAskings(world),
      ...toldScores(world),
      ...lostJudgings(world),
      ...closedIdeas(world),
      ...found.steps,
    ],
    actions: [
      ...found.actions,
      ...pullActions(world),
      ...pickPullActions(world),
      ...campaignPullActions(world),
      ...approvalActions(world),
    ],
  }
  const { status, status_reason } = world.campaign
  const taken = [...campaignPullSteps(world), ...mergedSteps(world)]
  if (taken.length > 0) return conclude(draft, taken)
  const landed = landedSteps(world)
  if (landed.length > 0) return conclude(draft, landed)
  const fates = pickFates(world)
  if (fates.steps.length > 0) return conclude(alsoDo(draft, fates.actions), fates.steps)
  switch (status) {
    case 'none':
      return { actions: [], waiting: { for: 'nothing', reason: 'no campaign was started' } }
    case 'stopped':
      return later(draft) ?? ended(draft)
    case 'paused':
      return standing(draft, {
        for: 'person',
        what: `the campaign is paused: ${status_reason}`,
      })
    case 'running':
      return running(draft)
    default:
      return status satisfies never
  }
}

/** What was approved after the stop has one more round; a limit that was raised since leaves room for more. */
function later(draft: Draft): Plan | null {
  const late = encoreSteps(draft.world)
  const steps = late.length > 0 ? late : raisedLimitSteps(draft.world)
  return steps.length === 0 ? null : conclude(draft, steps)
}

function ended(draft: Draft): Plan {
  const { world, found } = draft
  const under = cancelRemaining(world, found)
  const steps = [...under.steps, ...closeRemaining(world, found)]
  const again = steps.length > 0 ? [] : encoreForPicks(world)
  if (again.length > 0) return conclude(draft, again)
  const reason = world.campaign.status_reason ?? 'stopped'
  const silence: Action[] = askedHere(world).length > 0 ? [{ do: 'stop-asking' }] : []
  return conclude(
    alsoDo(draft, [...silence, ...under.actions, ...campaignBranch(world), ...greetings(world)]),
    steps,
    {
      for: 'nothing',
      reason,
    },
  )
}

/** Nothing begins; what people do is taken note of all the same, where it was not a refused push that paused. */
function standing(draft: Draft, waiting: Waiting): Plan {
  const { world } = draft
  const heads = world.campaign.status_source === 'person' ? followHeads(world) : { steps: [], actions: [] }
  return conclude(
    alsoDo(draft, [...holdBack(draft), ...heads.actions, ...greetings(world)]),
    heads.steps,
    waiting,
  )
}

/** What is being measured ends; what only waits for its turn is dispatched anew when the campaign goes on. */
function holdBack({ world }: Draft): Action[] {
  const waiting = [...world.runs].filter(([, run]) => run.state === 'waiting')
  return waiting.map(([order]) => ({ do: 'cancel', order }))
}

/** What others did comes first, then verdicts and landings, then what they make room for. */
function running(resting: Draft): Plan {
  const { world, found } = resting
  const heads = followHeads(world)
  const draft = alsoDo(alsoJudged(dispatchIdle(resting)), heads.actions)
  if (heads.steps.length > 0) return conclude(draft, heads.steps)
  const merged = syncByHand(world, found)
  if (merged !== null) {
    const { steps, requests, blocked } = merged
    return steps.length > 0 ? conclude(draft, steps) : request(draft, requests, blocked)
  }
  const foreign = foreignPlan(world, found)
  if (foreign.steps.length > 0) return conclude(draft, foreign.steps)
  if (foreign.blocked !== null)
    return prepared(draft, () => request(draft, foreign.requests, foreign.blocked))
  const landing = landingPlan(world)
  if (landing !== null) return conclude(alsoDo(draft, landing.actions), landing.steps, landing.waiting)
  const lost = lostTooOften(world)
  if (lost.length > 0) return conclude(draft, lost)
  const effects = effectSteps(world)
  if (effects.length > 0) return conclude(draft, effects)
  const picked = pickVerdicts(world, found)
  if (picked.length > 0) return conclude(draft, picked)
  const round = settleRound(world, found)
  if (round.steps.length > 0 || found.lost.size > 0) return conclude(draft, round.steps)
  const broke = judgingStop(world.spec, world.campaign.spent.usd)
  if (broke !== null) return stopping(draft, broke)
  if (isDone(world)) return conclude(alsoDo(draft, tidiedAfter(world)), [], { for: 'ideas' })
  return prepared(draft, () => {
    if (world.campaign.round?.open) return inRound(draft, round)
    const stop = directReverts(world).length > 0 || isLimitRaised(world) ? null : stopFor(world)
    if (stop !== null) return stopping(draft, stop)
    const sync = syncPlan(world, found)
    if (sync.steps.length > 0) return conclude(draft, sync.steps)
    if (sync.blocked === null) return betweenRounds(draft)
    return sync.hopeless === null
      ? request(draft, sync.requests, sync.blocked)
      : besideObstacle(draft, sync.hopeless, sync.blocked)
  })
}

/** Only one idea was meant, and it is settled: what would come next is for whoever runs the campaign. */
function isDone({ only, campaign }: World): boolean {
  return only !== null && isSettled(campaign, only)
}

function tidiedAfter(world: World): Action[] {
  return world.campaign.round?.open ? [] : campaignBranch(world)
}

/** What keeps the default branch from being merged in keeps nobody from taking a change alone: as it was last merged. */
function besideObstacle(draft: Draft, obstacle: SyncObstacle, blocked: string): Plan {
  const picks = pickPlan(draft.world, draft.found)
  const steps = [...awaitHopelessSync(draft.world, obstacle), ...picks.steps]
  if (steps.length > 0) return conclude(draft, steps)
  return request(alsoDo(draft, greetings(draft.world, obstacle)), picks.requests, blocked)
}

/** The next order carries every pair that was measured, so those that just came in are recorded first. */
function inRound(draft: Draft, round: RoundPlan): Plan {
  if (draft.found.steps.length > 0) return conclude(draft, [])
  const { world, found } = draft
  return request(draft, [...memberRequests(world, round), ...pickPlan(world, found).requests], null)
}

/** The last thing a campaign does: what is still to be reported is measured first, and nothing else begins. */
function stopping(resting: Draft, stop: StopReason): Plan {
  const { world, found } = resting
  const draft = alsoDo(resting, campaignBranch(world))
  const last = lastEffects(world, found, stop.code)
  if (!last.pending) return conclude(draft, [...benchedAlerts(world), ...last.steps, stopStep(world, stop)])
  if (found.steps.length > 0 || last.steps.length > 0) return conclude(draft, last.steps)
  return request(draft, last.requests, null)
}

function dispatchIdle(draft: Draft): Draft {
  const sent = draft.found.idle.map(order => dispatch(draft.world, order))
  const steps = [...draft.steps, ...sent.flatMap(each => each.steps)]
  return alsoDo(
    { ...draft, steps },
    sent.flatMap(each => each.actions),
  )
}

/** Whatever else is due: what was measured waits for nothing else of this campaign. */
function alsoJudged(draft: Draft): Draft {
  return { ...draft, steps: [...draft.steps, ...judgeElsewhere(draft.world)] }
}

/** Nothing is measured against an incumbent that was not measured itself. */
function prepared(draft: Draft, next: () => Plan): Plan {
  const { steps, requests, ready, hopeless } = prepare(draft.world, draft.found)
  const mended = hopeless ? mending(draft) : null
  if (mended !== null) return mended
  if (steps.length > 0) return conclude(draft, steps)
  return ready ? next() : request(draft, requests, 'the base is being measured')
}

/** A base that does not work may have been mended on the default branch: that is measured before anybody is asked. */
function mending(draft: Draft): Plan | null {
  const { world, found } = draft
  if (world.campaign.round?.open || world.sync === null) return null
  const sync = syncPlan(world, found)
  if (sync.hopeless !== null) return null
  if (sync.steps.length > 0) return conclude(draft, sync.steps)
  return sync.blocked === null ? null : request(draft, sync.requests, sync.blocked)
}

/** A round is never cut in half: only here a campaign stops, grows by new ideas, or takes a landing back. */
function betweenRounds(draft: Draft): Plan {
  const { world } = draft
  const undo = directReverts(world)
  if (undo.length > 0) return conclude(draft, undo)
  const advanced = alsoDo(draft, campaignBranch(world))
  const { steps: refusals, refused } = refuseQueued(world)
  const approvals = askApprovals(world, Object.values(world.campaign.experiments), refused)
  const permissions = askPermission(world)
  const encore = world.campaign.encore !== null
  const opened = encore ? nothingOpened(world) : openProposals(world)
  const intake = [
    ...benchedAlerts(world),
    ...refusals,
    ...approvals.steps,
    ...permissions.steps,
    ...awaitRefusedSync(world),
    ...opened.steps,
  ]
  if (intake.length === 0 && !encore) intake.push(...resumeParked(world))
  const asked = intake.length === 0 && !encore ? askFor(world) : { steps: [], actions: [] }
  const asks = asked.steps.length + asked.actions.length > 0
  const growing = !encore && (asks || growsYet(world, opened.steps))
  const excluded = new Set([...refused, ...approvals.waiting, ...permissions.waiting])
  const requests = growing ? [] : newRound(world, excluded)
  const beside = growing || world.only !== null ? null : effectsBeside(world, draft.found)
  const picks = pickPlan(world, draft.found, opened.next)
  const steps = [...advanced.steps, ...intake, ...asked.steps, ...(beside?.steps ?? []), ...picks.steps]
  const orders = [...requests, ...(beside?.requests ?? []), ...picks.requests]
  return request(alsoDo({ ...advanced, steps }, asked.actions), orders, null)
}

function alsoDo(draft: Draft, actions: readonly Action[]): Draft {
  return { ...draft, actions: [...draft.actions, ...actions] }
}

function request(draft: Draft, requests: Request[], why: string | null): Plan {
  const orders = issue(draft.world, requests)
  const waiting = why === null ? waitingFor(draft.world) : ({ for: 'person', what: why } as const)
  return conclude(alsoDo(draft, orders.actions), orders.steps, waiting)
}

/** Where there is nothing to do, there is something to wait for; a plan that does something is looked at again. */
function conclude({ found, steps, actions, world }: Draft, more: Step[], waiting?: Waiting): Plan {
  const all = [...steps, ...more]
  const effects = withoutRepeats(actions, world.done)
  const then: Action[] = all.length > 0 ? [{ do: 'commit', steps: all }, ...effects] : effects
  if (then.length > 0) return { actions: then, waiting: null }
  const idle = new Set(found.idle.filter(order => world.done?.has(dispatchKey(order)) !== true))
  const orders = Object.keys(world.campaign.orders).filter(id => !found.reports.has(id) && !idle.has(id))
  if (orders.length > 0) return { actions: then, waiting: waitingForOrders(world, orders) }
  // A job of its own answers a campaign that stopped as well, and nobody need wait for that.
  const asking = world.campaign.status === 'stopped' ? askedHere(world) : world.asking
  return { actions: then, waiting: asking.length > 0 ? { for: 'proposers', who: asking } : (waiting ?? null) }
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
  if (nothingToMeasure(world) && needed.length > 0) return { for: 'person', what: needed.join('. ') }
  const rate = rateText(world)
  if (rate !== null) return { for: 'person', what: rate }
  return { for: 'ideas' }
}
