import type { Campaign } from '../model/campaign.ts'
import { describeStandstill } from '../model/describe-status.ts'
import { toShortRef } from '../model/refs.ts'
import { isLimitRaised } from '../plan/raised-limit.ts'
import { findDueStop } from '../plan/stop.ts'
import { describeSyncState } from '../plan/sync.ts'
import type { World } from '../plan/world.ts'
import { describeLimitRaise } from '../report/way-on.ts'
import type { CommandContext } from './at-campaign.ts'

/** Why nothing may be measured now: a person's word or a rule of the spec holds for `try` as for `run`. */
export async function explainHold({ place }: CommandContext, world: World): Promise<string | null> {
  const { status, status_source } = world.campaign
  if (status === 'paused' || (status === 'stopped' && status_source === 'person'))
    return `${describeStandstill(world.campaign)}; winnow resume goes on`
  const stop = isLimitRaised(world) ? null : findDueStop(world)
  // An idea is at hand, whatever the proposers have left.
  if (stop !== null && stop.code !== 'empty_backlog')
    return `the campaign is over: ${stop.reason}; ${describeLimitRaise(world.campaign, stop.code, describeSyncState(world.sync))}`
  const [held] = await place.repository.worktreesHolding([place.refs.optimize])
  if (held === undefined) return null
  const branch = toShortRef(held.branch)
  return `${branch} is checked out in ${held.path}, and winnow moves no branch that is checked out: git switch -c my-idea`
}

/** A round is never cut in half; null where it is of this idea alone. */
export function describeOpenRound(
  { round, experiments }: Pick<Campaign, 'round' | 'experiments'>,
  branch: string,
): string | null {
  const others = round?.open ? round.members.filter(id => experiments[id]?.branch !== branch) : []
  if (!round || others.length === 0) return null
  return `round ${round.number} is under way (${others.join(', ')}): it ends before ${branch} is measured`
}
