import type { Step } from './action.ts'
import { determinismLost } from './ending.ts'
import { alertOnce, pauseOnce } from './alerts.ts'
import type { Arrivals } from './arrivals.ts'
import { assess } from '../decide/assess.ts'
import type { Assessment } from '../decide/assessment.ts'
import type { ForeignTip } from '../model/campaign.ts'
import type { OrderId, Point } from '../model/ids.ts'
import type { OrderCandidate } from '../model/order.ts'
import { harmlessStop, type Request } from './orders.ts'
import { type Answered, nextAttempt, ownOrder, type Unanswered, withPostponement } from './own-order.ts'
import type { World } from './world.ts'

/**
 * Somebody else moved the optimize branch: merging stops until their tip was measured against the recorded
 * incumbent. It is adopted if its gates hold and no harm is shown, else moved back with its commits kept.
 */
export interface ForeignPlan {
  steps: Step[]
  requests: Request[]
  blocked: string | null
}

const NOTHING: ForeignPlan = { steps: [], requests: [], blocked: null }

export function foreignPlan(world: World, found: Arrivals): ForeignPlan {
  const { incumbent, foreign } = world.campaign
  if (world.optimizeTip === null) return restore(world)
  if (world.optimizeTip.commit === incumbent.commit) return foreign ? vanished(foreign, incumbent) : NOTHING
  if (foreign === null || foreign.to.commit !== world.optimizeTip.commit)
    return discoverForeign(world, world.optimizeTip)
  if (foreign.state === 'blocked') return { ...NOTHING, blocked: 'the optimize branch cannot be moved back' }
  return measure(world, found, foreign)
}

/** The branch was deleted: nothing is lost, since the keeper holds its commits. */
function restore(world: World): ForeignPlan {
  const { incumbent, name } = world.campaign
  const message = `optimize branch of ${name} was deleted; it is restored at ${incumbent.commit.slice(0, 10)}`
  const events = alertOnce(world, {
    code: 'optimize-restored',
    about: `${incumbent.commit}@${world.campaign.seq}`,
    message,
  })
  const drafts = events.flatMap(step => (step.step === 'event' ? [step.draft] : []))
  return {
    steps: [{ step: 'move', from: null, to: incumbent, events: drafts }],
    requests: [],
    blocked: message,
  }
}

function vanished(foreign: ForeignTip, incumbent: Point): ForeignPlan {
  const reason = 'the branch is back at the recorded incumbent'
  const { to } = foreign
  const draft = {
    kind: 'foreign-tip',
    cause: foreign.event,
    from: incumbent,
    to,
    state: 'moved-back',
    order: null,
    reason,
  } as const
  return { steps: [{ step: 'event', draft }], requests: [], blocked: null }
}

export function discoverForeign(world: World, to: Point): ForeignPlan {
  const { incumbent: from } = world.campaign
  const reason = `the optimize branch is at ${to.commit.slice(0, 10)}, which winnow did not put there`
  const draft = {
    kind: 'foreign-tip',
    cause: to.commit,
    from,
    to,
    state: 'found',
    order: null,
    reason,
  } as const
  const message = `${reason}: merging stops until it was measured`
  return {
    steps: [
      { step: 'event', draft },
      { step: 'keep', heads: [to.commit] },
      ...alertOnce(world, { code: 'foreign-tip', about: to.commit, message }),
    ],
    requests: [],
    blocked: reason,
  }
}

function measure(world: World, found: Arrivals, foreign: ForeignTip): ForeignPlan {
  const blocked = `the foreign tip ${foreign.to.commit.slice(0, 10)} is being measured`
  const refusal = world.foreign?.refusal
  if (refusal) return { steps: moveBack(world, foreign, null, refusal.message), requests: [], blocked }
  const candidates = [{ label: 'foreign' as const, head: foreign.to.commit, tree: foreign.to.tree }]
  const own = ownOrder(world, found, { purpose: 'foreign', base: world.campaign.incumbent, candidates })
  const next = own.is === 'answered' ? judged(world, foreign, own) : own
  if (Array.isArray(next)) return { steps: next, requests: [], blocked }
  if (next.is === 'under way') return { steps: [], requests: [], blocked: withPostponement(blocked, next) }
  if (next.is === 'wanted') return { steps: [], requests: request(world, foreign, candidates, next), blocked }
  const reason = `the foreign tip ${foreign.to.commit.slice(0, 10)} cannot be measured: ${next.reason}`
  return { steps: pauseOnce(world, reason), requests: [], blocked: reason }
}

/** What is wrong with the base or the runner is no verdict on somebody's commits: they are measured again. */
function judged(world: World, foreign: ForeignTip, { order, report }: Answered): Step[] | Unanswered {
  const baseline = order.stop.rule === 'stability' ? order.stop.baseline : null
  const assessment = assess({ spec: world.spec, order, report, label: 'foreign', baseline })
  if (assessment.retry) return nextAttempt(world, order.attempt, assessment.reason)
  if (assessment.determinism_lost)
    return [
      determinismLost(world.campaign, { order: order.id, cause: foreign.event, reason: assessment.reason }),
    ]
  const settle = passes(assessment) ? adopt : moveBack
  return settle(world, foreign, order.id, assessment.reason)
}

export function passes({ outcome, worse, violated_objectives }: Assessment): boolean {
  if (outcome === 'eligible') return true
  return (outcome === 'dropped' || outcome === 'inconclusive') && !worse && violated_objectives.length === 0
}

/** Nothing while the incumbent itself has still to be measured: then that comes first. */
function request(
  world: World,
  foreign: ForeignTip,
  candidates: OrderCandidate[],
  { attempt, interrupted }: Pick<Request, 'attempt' | 'interrupted'>,
): Request[] {
  const stop = harmlessStop(world)
  if (stop === null) return []
  const round = world.campaign.round?.number ?? 0
  return [{ purpose: 'foreign', round, attempt, interrupted, cause: foreign.event, candidates, stop }]
}

function adopt(world: World, foreign: ForeignTip, order: OrderId, reason: string): Step[] {
  const { incumbent: from } = world.campaign
  const { event: cause, to } = foreign
  const adopted = { kind: 'foreign-tip', cause, from, to, state: 'adopted', order, reason } as const
  const moved = { kind: 'incumbent-moved', cause, from, to, why: 'foreign' } as const
  return [
    { step: 'event', draft: adopted },
    { step: 'event', draft: moved },
  ]
}

function moveBack(world: World, foreign: ForeignTip, order: OrderId | null, reason: string): Step[] {
  const { incumbent } = world.campaign
  const { event: cause, to } = foreign
  const draft = {
    kind: 'foreign-tip',
    cause,
    from: incumbent,
    to,
    state: 'moved-back',
    order,
    reason,
  } as const
  return [{ step: 'move', from: to, to: incumbent, events: [draft] }]
}
