import { isMovable } from '../model/limit.ts'
import { raiseObstacle, RAISE_POSSIBLE } from '../model/raise-obstacle.ts'
import { syncRefused } from '../model/sync-refused.ts'
import { shortRef } from '../model/refs.ts'
import type { Spec } from '../spec/schema.ts'
import type { Step } from './action.ts'
import { alertOnce } from './alerts.ts'
import { ruleThatHolds } from './stop.ts'
import { obstacleText } from './sync.ts'
import type { World } from './world.ts'

/**
 * Whether a rule of the spec in force stops the campaign and none of the spec that the default branch has now. It is
 * taken in by the next sync, which cannot come where the campaign stops before it.
 */
export function isLimitRaised(world: World): boolean {
  const { campaign, sync } = world
  if (sync?.result !== 'clean' || !sync.spec.changed || syncRefused(campaign)?.tip === sync.tip) return false
  return isRaisedIn(world, sync.spec.parsed)
}

function isRaisedIn(world: World, spec: Spec): boolean {
  if (world.campaign.encore !== null) return false
  const now = ruleThatHolds(world)
  return now !== null && isMovable(now.code) && ruleThatHolds({ ...world, spec }) === null
}

/** Who raises on the default branch what stopped the campaign wants it to go on, and needs no other word for it. */
export function raisedLimitSteps(world: World): Step[] {
  const { campaign } = world
  const { status, stop_code: code, default_branch } = campaign
  if (status !== 'stopped' || !isMovable(code ?? '')) return []
  if (!isLimitRaised(world)) return obstacleSteps(world)
  const reason = `${shortRef(default_branch)} has a spec in which nothing stops it any more (${code})`
  return [{ step: 'event', draft: { kind: 'campaign-resumed', cause: `raised at ${campaign.seq}`, reason } }]
}

/** Records why a raised limit cannot be read, and when nothing is in its way any more, so that every view can say it. */
function obstacleSteps(world: World): Step[] {
  const { campaign, sync } = world
  if (sync?.result === 'conflict' && sync.spec !== undefined && isRaisedIn(world, sync.spec))
    return alertOnce(world, { code: 'sync-conflict', about: sync.tip, message: obstacleText(sync) })
  if (raiseObstacle(campaign) === null || (sync !== null && sync.result !== 'clean')) return []
  const main = shortRef(campaign.default_branch)
  return alertOnce(world, {
    code: RAISE_POSSIBLE,
    about: world.defaultTip.commit,
    message: `nothing keeps ${main} from being merged in any more`,
  })
}
