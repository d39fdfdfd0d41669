import type { Action, Step } from './action.ts'
import { alertOnce } from './alerts.ts'
import { openEngineExperiments } from './intake.ts'
import { roundSize } from './rounds.ts'
import type { World } from './world.ts'

/** One more idea before the next round starts, while the round has room: proposers take turns. */
export function askFor(world: World): Action[] {
  const { campaign, spec, askable } = world
  const queued = Object.values(campaign.experiments).filter(({ status }) => status === 'queued').length
  if (queued >= roundSize(spec) || openEngineExperiments(world) >= spec.merge.max_open_experiments) return []
  const lastAsked = (who: string) => campaign.proposers[who]?.asked ?? -1
  const [next] = askable.toSorted((a, b) => lastAsked(a) - lastAsked(b))
  return next === undefined ? [] : [{ do: 'propose', who: next }]
}

/** A proposer that is not asked any more is said once. */
export function benchedAlerts(world: World): Step[] {
  return Object.entries(world.campaign.proposers).flatMap(([who, { benched, failures }]) => {
    if (!benched) return []
    const message = `${who} brought ${failures} times no idea that could be measured, and is asked no more`
    return alertOnce(world, { code: 'proposer-benched', about: who, message })
  })
}
