import { experimentsOf } from '../model/experiments.ts'
import type { SyncObstacle } from '../model/sync-awaited.ts'
import type { Plan } from './action.ts'
import { askApprovals } from './approvals.ts'
import { askFor, benchedAlerts, growsYet } from './asking.ts'
import { campaignBranch } from './campaign-pull.ts'
import { alsoDo, conclude, type Draft, request } from './draft.ts'
import { effectsBeside } from './effects.ts'
import { greetings } from './greetings.ts'
import { nothingOpened, openProposals, refuseQueued } from './intake.ts'
import { resumeParked } from './parked.ts'
import { pickPlan } from './picks.ts'
import { isLimitRaised } from './raised-limit.ts'
import { directReverts } from './revert.ts'
import { newRound } from './rounds.ts'
import { stopFor } from './stop.ts'
import { stopping } from './stopping.ts'
import { askPermission } from './strangers.ts'
import { syncPlan } from './sync.ts'
import { awaitHopelessSync, awaitRefusedSync, endVanishedWaits } from './sync-awaited.ts'

/**
 * But for judges without money, nothing cuts a round in half: only here a campaign stops, grows by new ideas, or takes a
 * landing back.
 */
export function betweenRounds(draft: Draft): Plan {
  const { world, found } = draft
  const undo = directReverts(world)
  const stop = undo.length > 0 || isLimitRaised(world) ? null : stopFor(world)
  if (stop !== null) return stopping(draft, stop)
  const sync = syncPlan(world, found)
  if (sync.steps.length > 0) return conclude(draft, sync.steps)
  const vanished = sync.hopeless === null ? endVanishedWaits(world) : []
  if (vanished.length > 0) return conclude(draft, vanished)
  if (sync.blocked !== null)
    return sync.hopeless === null
      ? request(draft, sync.requests, sync.blocked)
      : besideObstacle(draft, sync.hopeless, sync.blocked)
  return undo.length > 0 ? conclude(draft, undo) : toNextRound(draft)
}

/** What keeps the default branch from being merged in keeps nobody from taking a change alone: as it was last merged. */
function besideObstacle(draft: Draft, obstacle: SyncObstacle, blocked: string): Plan {
  const picks = pickPlan(draft.world, draft.found)
  const steps = [...awaitHopelessSync(draft.world, obstacle), ...picks.steps]
  if (steps.length > 0) return conclude(draft, steps)
  return request(alsoDo(draft, greetings(draft.world, obstacle)), picks.requests, blocked)
}

/** What is new is let in first: a round begins once nothing more is to be waited for. */
function toNextRound(draft: Draft): Plan {
  const { world } = draft
  const advanced = alsoDo(draft, campaignBranch(world))
  const { steps: refusals, refused } = refuseQueued(world)
  const approvals = askApprovals(world, experimentsOf(world.campaign), refused)
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
  const beside =
    growing || world.only !== null ? null : effectsBeside(world, draft.found, requests.length > 0)
  const picks = pickPlan(world, draft.found, opened.next)
  const steps = [...advanced.steps, ...intake, ...asked.steps, ...(beside?.steps ?? []), ...picks.steps]
  const orders = [...requests, ...(beside?.requests ?? []), ...picks.requests]
  return request(alsoDo({ ...advanced, steps }, asked.actions), orders, null)
}
