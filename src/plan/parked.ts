import { experimentsOf } from '../model/experiments.ts'
import { resumesByItself } from '../model/resumes-by-itself.ts'
import { awaitsSync } from '../model/sync-awaited.ts'
import type { Step } from './action.ts'
import { freshProposals } from './intake.ts'
import { measuresNoMore } from './rounds.ts'
import { isKeptOut } from './strangers.ts'
import type { World } from './world.ts'

/**
 * Not proven, and nothing else to do: each is taken up once more (decision.md 3.3). First those that used up their jobs,
 * with as many again; a second look at what was given up early comes last, within the jobs that an idea has.
 */
export function resumeParked(world: World): Step[] {
  const { campaign, askable, asking, only } = world
  const all = experimentsOf(campaign)
  const busy =
    all.some(each => each.status === 'queued' && !isKeptOut(world, each.id) && !awaitsSync(each)) ||
    freshProposals(world).length > 0
  if (busy || only !== null || askable.length + asking.length > 0 || measuresNoMore(world)) return []
  const parked = all.filter(resumesByItself)
  const promising = parked.filter(({ given_up }) => given_up === null)
  return (promising.length > 0 ? promising : parked).map(({ id, opened }) => {
    const reason = 'nothing else is queued'
    const cause = `resume ${opened}`
    return { step: 'event', draft: { kind: 'steered', cause, action: 'retry', experiment: id, reason } }
  })
}
