import { listExperiments } from '../model/experiments.ts'
import { isResumedAutomatically } from '../model/resumes-by-itself.ts'
import { isAwaitingSync } from '../model/sync-awaited.ts'
import type { PlanStep } from './action.ts'
import { listNewProposals } from './intake.ts'
import { isAlphaSpent } from './rounds.ts'
import { needsPermission } from './strangers.ts'
import type { World } from './world.ts'

/**
 * Not proven, and nothing else to do: each is taken up once more (decision.md 3.3). First those that used up their jobs,
 * with as many again; a second look at what was given up early comes last, within the jobs that an idea has.
 */
export function resumeNotProven(world: World): PlanStep[] {
  const { campaign, askable, asking, targetBranch: only } = world
  const all = listExperiments(campaign)
  const busy =
    all.some(each => each.status === 'queued' && !needsPermission(world, each.id) && !isAwaitingSync(each)) ||
    listNewProposals(world).length > 0
  if (busy || only !== null || askable.length + asking.length > 0 || isAlphaSpent(world)) return []
  const parked = all.filter(isResumedAutomatically)
  const promising = parked.filter(({ given_up }) => given_up === null)
  return (promising.length > 0 ? promising : parked).map(({ id, opened }) => {
    const reason = 'nothing else is queued'
    const cause = `resume ${opened}`
    return { step: 'event', draft: { kind: 'steered', cause, action: 'retry', experiment: id, reason } }
  })
}
