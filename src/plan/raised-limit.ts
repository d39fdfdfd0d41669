import { isMovable } from '../model/limit.ts'
import { findRaiseObstacle, RAISED_LIMIT_READABLE } from '../model/raise-obstacle.ts'
import { findRefusedSyncAlert } from '../model/sync-refused.ts'
import { toShortRef } from '../model/refs.ts'
import type { Spec } from '../spec/schema.ts'
import type { PlanStep } from './action.ts'
import { raiseAlert } from './alerts.ts'
import { findStopRule } from './stop.ts'
import { describeObstacle } from './sync.ts'
import type { World } from './world.ts'

/**
 * Whether a rule of the spec in force stops the campaign and none of the spec that the default branch has now. It is
 * taken in by the next sync, which cannot come where the campaign stops before it.
 */
export function isLimitRaised(world: World): boolean {
  const { campaign, sync } = world
  if (sync?.result !== 'clean' || !sync.spec.changed || findRefusedSyncAlert(campaign)?.tip === sync.tip)
    return false
  return isStopLifted(world, sync.spec.parsed)
}

function isStopLifted(world: World, spec: Spec): boolean {
  if (world.campaign.encore !== null) return false
  const now = findStopRule(world)
  return now !== null && isMovable(now.code) && findStopRule({ ...world, spec }) === null
}

/** Who raises on the default branch what stopped the campaign wants it to go on, and needs no other word for it. */
export function planRaisedLimit(world: World): PlanStep[] {
  const { campaign } = world
  const { status, stop_code: code, default_branch } = campaign
  if (status !== 'stopped' || !isMovable(code ?? '')) return []
  if (!isLimitRaised(world)) return recordRaiseObstacle(world)
  const reason = `${toShortRef(default_branch)} has a spec in which nothing stops it any more (${code})`
  return [{ step: 'event', draft: { kind: 'campaign-resumed', cause: `raised at ${campaign.seq}`, reason } }]
}

/** Records why a raised limit cannot be read, and when nothing is in its way any more, so that every view can say it. */
function recordRaiseObstacle(world: World): PlanStep[] {
  const { campaign, sync } = world
  if (sync?.result === 'conflict' && sync.spec !== undefined && isStopLifted(world, sync.spec))
    return raiseAlert(world, { code: 'sync-conflict', about: sync.tip, message: describeObstacle(sync) })
  if (findRaiseObstacle(campaign) === null || (sync !== null && sync.result !== 'clean')) return []
  const main = toShortRef(campaign.default_branch)
  return raiseAlert(world, {
    code: RAISED_LIMIT_READABLE,
    about: world.defaultTip.commit,
    message: `nothing keeps ${main} from being merged in any more`,
  })
}
