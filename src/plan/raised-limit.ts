import { isMovable } from '../model/limit.ts'
import { syncRefused } from '../model/sync-refused.ts'
import { shortRef } from '../model/refs.ts'
import type { Step } from './action.ts'
import { ruleThatHolds } from './stop.ts'
import type { World } from './world.ts'

/**
 * Whether a rule of the spec in force stops the campaign and none of the spec that the default branch has now. It is
 * taken in by the next sync, which cannot come where the campaign stops before it.
 */
export function isLimitRaised(world: World): boolean {
  const { campaign, sync } = world
  if (sync?.result !== 'clean' || !sync.spec.changed || syncRefused(campaign)?.tip === sync.tip) return false
  if (campaign.encore !== null) return false
  const now = ruleThatHolds(world)
  return now !== null && isMovable(now.code) && ruleThatHolds({ ...world, spec: sync.spec.parsed }) === null
}

/** Who raises on the default branch what stopped the campaign wants it to go on, and needs no other word for it. */
export function raisedLimitSteps(world: World): Step[] {
  const { campaign } = world
  const { status, stop_code: code, default_branch } = campaign
  if (status !== 'stopped' || !isMovable(code ?? '') || !isLimitRaised(world)) return []
  const reason = `${shortRef(default_branch)} has a spec in which nothing stops it any more (${code})`
  return [{ step: 'event', draft: { kind: 'campaign-resumed', cause: `raised at ${campaign.seq}`, reason } }]
}
