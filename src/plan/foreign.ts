import type { PlanStep } from './action.ts'
import { recordLostDeterminism } from './ending.ts'
import { raiseAlert, pauseCampaignOnce } from './alerts.ts'
import type { IncomingReports } from './arrivals.ts'
import { assessCandidate } from '../decide/assess.ts'
import type { Assessment } from '../decide/assessment.ts'
import type { ForeignTip } from '../model/campaign.ts'
import type { OrderId, Point } from '../model/ids.ts'
import type { OrderCandidate } from '../model/order.ts'
import { buildNoHarmRule, type OrderRequest } from './orders.ts'
import {
  type AnsweredOrder,
  planNextAttempt,
  findCampaignOrder,
  type UnansweredOrder,
  appendPostponement,
} from './own-order.ts'
import type { World } from './world.ts'

/**
 * Somebody else moved the optimize branch: merging stops until their tip was measured against the recorded
 * incumbent. It is adopted if its gates hold and no harm is shown, else moved back with its commits kept.
 */
export interface ForeignPlan {
  steps: PlanStep[]
  requests: OrderRequest[]
  blocked: string | null
}

const NO_FOREIGN_PLAN: ForeignPlan = { steps: [], requests: [], blocked: null }

export function planForeignTip(world: World, found: IncomingReports): ForeignPlan {
  const { incumbent, foreign } = world.campaign
  if (world.optimizeTip === null) return restoreBranch(world)
  if (world.optimizeTip.commit === incumbent.commit)
    return foreign ? recordVanishedTip(foreign, incumbent) : NO_FOREIGN_PLAN
  if (foreign === null || foreign.to.commit !== world.optimizeTip.commit)
    return recordForeignTip(world, world.optimizeTip)
  if (foreign.state === 'blocked')
    return { ...NO_FOREIGN_PLAN, blocked: 'the optimize branch cannot be moved back' }
  return measureForeignTip(world, found, foreign)
}

/** The branch was deleted: nothing is lost, since the keeper holds its commits. */
function restoreBranch(world: World): ForeignPlan {
  const { incumbent, name } = world.campaign
  const message = `optimize branch of ${name} was deleted; it is restored at ${incumbent.commit.slice(0, 10)}`
  const events = raiseAlert(world, {
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

function recordVanishedTip(foreign: ForeignTip, incumbent: Point): ForeignPlan {
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

export function recordForeignTip(world: World, to: Point): ForeignPlan {
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
      ...raiseAlert(world, { code: 'foreign-tip', about: to.commit, message }),
    ],
    requests: [],
    blocked: reason,
  }
}

function measureForeignTip(world: World, found: IncomingReports, foreign: ForeignTip): ForeignPlan {
  const blocked = `the foreign tip ${foreign.to.commit.slice(0, 10)} is being measured`
  const refusal = world.foreign?.refusal
  if (refusal) return { steps: moveBranchBack(world, foreign, null, refusal.message), requests: [], blocked }
  const candidates = [{ label: 'foreign' as const, head: foreign.to.commit, tree: foreign.to.tree }]
  const own = findCampaignOrder(world, found, {
    purpose: 'foreign',
    base: world.campaign.incumbent,
    candidates,
  })
  const next = own.is === 'answered' ? judgeForeignTip(world, foreign, own) : own
  if (Array.isArray(next)) return { steps: next, requests: [], blocked }
  if (next.is === 'under way') return { steps: [], requests: [], blocked: appendPostponement(blocked, next) }
  if (next.is === 'wanted')
    return { steps: [], requests: requestForeignOrder(world, foreign, candidates, next), blocked }
  const reason = `the foreign tip ${foreign.to.commit.slice(0, 10)} cannot be measured: ${next.reason}`
  return { steps: pauseCampaignOnce(world, reason), requests: [], blocked: reason }
}

/** What is wrong with the base or the runner is no verdict on somebody's commits: they are measured again. */
function judgeForeignTip(
  world: World,
  foreign: ForeignTip,
  { order, report }: AnsweredOrder,
): PlanStep[] | UnansweredOrder {
  const baseline = order.stop.rule === 'stability' ? order.stop.baseline : null
  const assessment = assessCandidate({ spec: world.spec, order, report, label: 'foreign', baseline })
  if (assessment.retry) return planNextAttempt(world, order.attempt, assessment.reason)
  if (assessment.determinism_lost)
    return [
      recordLostDeterminism(world.campaign, {
        order: order.id,
        cause: foreign.event,
        reason: assessment.reason,
      }),
    ]
  const settle = isForeignPassing(assessment) ? adoptForeignTip : moveBranchBack
  return settle(world, foreign, order.id, assessment.reason)
}

export function isForeignPassing({ outcome, worse, violated_objectives }: Assessment): boolean {
  if (outcome === 'eligible') return true
  return (outcome === 'dropped' || outcome === 'inconclusive') && !worse && violated_objectives.length === 0
}

/** Nothing while the incumbent itself has still to be measured: then that comes first. */
function requestForeignOrder(
  world: World,
  foreign: ForeignTip,
  candidates: OrderCandidate[],
  { attempt, interrupted }: Pick<OrderRequest, 'attempt' | 'interrupted'>,
): OrderRequest[] {
  const stop = buildNoHarmRule(world)
  if (stop === null) return []
  const round = world.campaign.round?.number ?? 0
  return [{ purpose: 'foreign', round, attempt, interrupted, cause: foreign.event, candidates, stop }]
}

function adoptForeignTip(world: World, foreign: ForeignTip, order: OrderId, reason: string): PlanStep[] {
  const { incumbent: from } = world.campaign
  const { event: cause, to } = foreign
  const adopted = { kind: 'foreign-tip', cause, from, to, state: 'adopted', order, reason } as const
  const moved = { kind: 'incumbent-moved', cause, from, to, why: 'foreign' } as const
  return [
    { step: 'event', draft: adopted },
    { step: 'event', draft: moved },
  ]
}

function moveBranchBack(
  world: World,
  foreign: ForeignTip,
  order: OrderId | null,
  reason: string,
): PlanStep[] {
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
