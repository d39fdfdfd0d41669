import { experimentsOf } from '../model/experiments.ts'
import { awaitsSync } from '../model/sync-awaited.ts'
import type { Step } from './action.ts'
import { freshProposals } from './intake.ts'
import { measuresNoMore } from './rounds.ts'
import { isKeptOut } from './strangers.ts'
import type { World } from './world.ts'

/** Not proven, and nothing else to do: each is taken up once more, with as many jobs again (decision.md 3.3). */
export function resumeParked(world: World): Step[] {
  const { campaign, askable, asking, only } = world
  const all = experimentsOf(campaign)
  const busy =
    all.some(each => each.status === 'queued' && !isKeptOut(world, each.id) && !awaitsSync(each)) ||
    freshProposals(world).length > 0
  if (busy || only !== null || askable.length + asking.length > 0 || measuresNoMore(world)) return []
  const parked = all.filter(({ status, resumed }) => status === 'parked' && resumed === 0)
  return parked.map(({ id, opened }) => {
    const reason = 'nothing else is queued'
    const cause = `resume ${opened}`
    return { step: 'event', draft: { kind: 'steered', cause, action: 'retry', experiment: id, reason } }
  })
}
