import type { Action, Plan } from './action.ts'
import { askedHere } from './asked-elsewhere.ts'
import { astrayPlan } from './astray.ts'
import { benchedAlerts } from './asking.ts'
import { campaignBranch } from './campaign-pull.ts'
import { alsoDo, conclude, dispatchIdle, type Draft, request } from './draft.ts'
import { effectSteps, lastEffects, progressAfterStop } from './effects.ts'
import { encoreForPicks, encoreSteps, closesIdeas } from './encore.ts'
import { greetings } from './greetings.ts'
import { followHeads } from './heads.ts'
import { freshProposals } from './intake.ts'
import { raisedLimitSteps } from './raised-limit.ts'
import { cancelRemaining, closeRemaining, interruptRemaining, type StopReason, stopStep } from './stop.ts'

/** The last thing a campaign does: what is still to be reported is measured first, and nothing else begins. */
export function stopping(resting: Draft, stop: StopReason): Plan {
  const { world, found } = resting
  const draft = alsoDo(resting, campaignBranch(world))
  const last = lastEffects(world, found, stop.code)
  if (!last.pending) return conclude(draft, [...benchedAlerts(world), ...last.steps, stopStep(world, stop)])
  if (found.steps.length > 0 || last.steps.length > 0) return conclude(draft, last.steps)
  return request(draft, last.requests, null)
}

/** What is open when a campaign stops is closed; what there is to offer is shown once more. */
export function stopped(draft: Draft): Plan {
  return later(draft) ?? ended(draft)
}

/** What was approved after the stop has one more round; a limit that was raised since leaves room for more. */
function later(draft: Draft): Plan | null {
  const late = encoreSteps(draft.world)
  const steps = late.length > 0 ? late : raisedLimitSteps(draft.world)
  return steps.length === 0 ? null : conclude(draft, steps)
}

function ended(draft: Draft): Plan {
  const { world, found } = draft
  const heads = closesIdeas(world) ? { steps: [], actions: [] } : followHeads(world)
  if (heads.steps.length > 0) return conclude(alsoDo(draft, heads.actions), heads.steps)
  const cut = closesIdeas(world) ? { steps: [], actions: [] } : interruptRemaining(world, found)
  if (cut.steps.length > 0) return conclude(alsoDo(draft, cut.actions), cut.steps)
  const under = cancelRemaining(world, found)
  const steps = [...under.steps, ...closeRemaining(world, found)]
  const again = steps.length > 0 ? [] : encoreForPicks(world)
  if (again.length > 0) return conclude(draft, again)
  const progress = steps.length > 0 ? null : progressPlan(draft)
  if (progress !== null) return progress
  const reason = world.campaign.status_reason ?? 'stopped'
  const ideas = freshProposals(world).length + world.unopened
  const astray = astrayPlan(world)
  const silence: Action[] = askedHere(world).length > 0 ? [{ do: 'stop-asking' }] : []
  return conclude(
    alsoDo(draft, [...silence, ...under.actions, ...campaignBranch(world), ...greetings(world)]),
    [...steps, ...astray.steps],
    astray.waiting ?? { for: 'nothing', reason, ...(ideas > 0 ? { ideas } : {}) },
  )
}

/** Measures the total of the kept changes where it is not known yet; no other work begins. */
function progressPlan(resting: Draft): Plan | null {
  const { world, found } = resting
  const measured = effectSteps(world)
  if (measured.length > 0) return conclude(resting, measured)
  const draft = dispatchIdle(resting)
  const progress = progressAfterStop(world, found)
  if (progress.steps.length > 0) return conclude(draft, progress.steps)
  if (!progress.pending) return null
  return found.steps.length > 0 ? conclude(draft, []) : request(draft, progress.requests, null)
}
