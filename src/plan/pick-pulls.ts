import type { PickedChange } from '../model/experiment.ts'
import { buildPickMark } from '../model/pick-mark.ts'
import type { PlanAction, PullChange } from './action.ts'
import { createPullFinder } from './pull-of.ts'
import type { PullFacts, World } from './world.ts'

/** Pull requests of changes taken alone, into the default branch: they follow the ledger (invariant 11). */
export function updatePickPulls(world: World): PlanAction[] {
  const pullOf = createPullFinder(world)
  const changes: PullChange[] = []
  const branches: { name: string; oid: string }[] = []
  for (const pick of Object.values(world.campaign.picks)) {
    const pull = pullOf(pick)
    const tip = pick.branch === null ? undefined : world.branches.get(pick.branch)
    // What somebody made theirs is not touched again.
    if (pick.fate === 'left') continue
    const change = selectPickChange(world, pick, { pull, isHere: tip !== undefined && tip === pick.head })
    if (change !== null) changes.push(change)
    if (pick.closed && tip !== undefined && tip === pick.head && pull?.state !== 'open')
      branches.push({ name: pick.branch ?? '', oid: tip })
  }
  return [
    ...(changes.length === 0 ? [] : [{ do: 'pulls', changes } as const]),
    ...(branches.length === 0 ? [] : [{ do: 'delete-branches', branches } as const]),
  ]
}

function selectPickChange(
  { campaign }: World,
  pick: PickedChange,
  { pull, isHere }: { pull: PullFacts | undefined; isHere: boolean },
): PullChange | null {
  const { id: experiment, closed, branch } = pick
  if (pull === undefined)
    return isHere && !closed ? { change: 'open', experiment, branch: branch ?? '' } : null
  if (pull.state !== 'open') return null
  const { number } = pull
  if (closed) return { change: 'close', number, experiment }
  return pull.body.includes(buildPickMark(campaign, pick)) ? null : { change: 'describe', number, experiment }
}
