import { judgingStop } from '../decide/stopping.ts'
import type { Plan } from './action.ts'
import { betweenRounds } from './between-rounds.ts'
import { campaignBranch } from './campaign-pull.ts'
import { alsoDo, conclude, dispatchIdle, type Draft, request } from './draft.ts'
import { effectSteps } from './effects.ts'
import { foreignPlan } from './foreign.ts'
import { fruitlessAlerts } from './fruitless-runs.ts'
import { followHeads } from './heads.ts'
import { judgeElsewhere } from './judged-elsewhere.ts'
import { landingPlan } from './landing.ts'
import { parkInterrupted } from './lost.ts'
import { isSettled } from './only.ts'
import { pickPlan, pickVerdicts } from './picks.ts'
import { prepare } from './preparation.ts'
import { isLimitRaised } from './raised-limit.ts'
import { type RoundPlan, settleRound } from './round.ts'
import { memberRequests } from './rounds.ts'
import type { StopReason } from './stop.ts'
import { stopping } from './stopping.ts'
import { syncByHand, syncPlan } from './sync.ts'
import type { World } from './world.ts'

/** What others did comes first, then verdicts and landings, then what they make room for. */
export function running(resting: Draft): Plan {
  const { world, found } = resting
  const heads = followHeads(world)
  const draft = alsoAlerted(alsoDo(alsoJudged(dispatchIdle(resting)), heads.actions))
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
  const lost = parkInterrupted(world)
  if (lost.length > 0) return conclude(draft, lost)
  const effects = effectSteps(world)
  if (effects.length > 0) return conclude(draft, effects)
  const picked = pickVerdicts(world, found)
  if (picked.length > 0) return conclude(draft, picked)
  const round = settleRound(world, found)
  if (round.steps.length > 0 || found.lost.size > 0) return conclude(draft, round.steps)
  const broke = judgingStop(world.spec, world.campaign.spent.usd)
  if (broke !== null) return outOfMoney(draft, broke)
  if (isDone(world)) return conclude(alsoDo(draft, campaignBranch(world)), [], { for: 'ideas' })
  return prepared(draft, () => (world.campaign.round?.open ? inRound(draft, round) : betweenRounds(draft)))
}

/** Only one idea was meant, and it is settled: what would come next is for whoever runs the campaign. */
function isDone({ only, campaign }: World): boolean {
  return only !== null && isSettled(campaign, only)
}

/** The next order carries every pair that was measured, so those that just came in are recorded first. */
function inRound(draft: Draft, round: RoundPlan): Plan {
  if (draft.found.steps.length > 0) return conclude(draft, [])
  const { world, found } = draft
  return request(draft, [...memberRequests(world, round), ...pickPlan(world, found).requests], null)
}

/** Nothing is judged any further; a cap that is raised on the default branch is taken in, where no round would be cut. */
function outOfMoney(draft: Draft, stop: StopReason): Plan {
  const { world, found } = draft
  if (world.campaign.round?.open || !isLimitRaised(world)) return stopping(draft, stop)
  const sync = syncPlan(world, found)
  if (sync.steps.length > 0) return conclude(draft, sync.steps)
  return request(draft, sync.requests, sync.blocked)
}

/** Whatever else is due: what was measured waits for nothing else of this campaign. */
function alsoJudged(draft: Draft): Draft {
  return { ...draft, steps: [...draft.steps, ...judgeElsewhere(draft.world)] }
}

/** Runs that fail for a reason outside the ideas. */
function alsoAlerted(draft: Draft): Draft {
  return { ...draft, steps: [...draft.steps, ...fruitlessAlerts(draft.world)] }
}

/** Nothing is measured against an incumbent that was not measured itself. */
function prepared(draft: Draft, next: () => Plan): Plan {
  const { steps, requests, blocked, hopeless } = prepare(draft.world, draft.found)
  const mended = hopeless ? mending(draft) : null
  if (mended !== null) return mended
  if (steps.length > 0) return conclude(draft, steps)
  return blocked === null ? next() : request(draft, requests, blocked)
}

/** A base that does not work may have been mended on the default branch: that is measured before anybody is asked. */
function mending(draft: Draft): Plan | null {
  const { world, found } = draft
  if (world.campaign.round?.open || world.sync === null) return null
  const sync = syncPlan(world, found, { needed: true })
  if (sync.hopeless !== null) return null
  if (sync.steps.length > 0) return conclude(draft, sync.steps)
  return sync.blocked === null ? null : request(draft, sync.requests, sync.blocked)
}
