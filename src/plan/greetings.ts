import { buildPausedMark } from '../model/standstill.ts'
import type { SyncObstacle } from '../model/sync-awaited.ts'
import type { PlanAction } from './action.ts'
import { listNewProposals } from './intake.ts'
import type { World } from './world.ts'

/**
 * While a campaign stands still nothing is opened: who brings a pull request meanwhile is told that once, and what
 * happens to it. It becomes an experiment by itself when the campaign goes on.
 */
export function commentPausedPulls(world: World, obstacle: SyncObstacle | null = null): PlanAction[] {
  const { campaign, pulls, spec, checks } = world
  if (checks !== true || spec.report.comment === 'never') return []
  const open = new Map(pulls.filter(({ state }) => state === 'open').map(pull => [pull.number, pull]))
  return listNewProposals(world).flatMap(({ pull: number, head }) => {
    const pull = number === null ? undefined : open.get(number)
    if (pull === undefined || 'rejected' in head) return []
    const unopened = { number: pull.number, head: head.commit, obstacle }
    const told = (pull.ownComments ?? '').includes(buildPausedMark(campaign, unopened))
    return told ? [] : [{ do: 'greet', ...unopened } as const]
  })
}
