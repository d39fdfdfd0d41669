import { selectRound } from '../decide/select.ts'
import type { Experiment } from '../model/campaign.ts'
import type { ExperimentId } from '../model/ids.ts'
import { experimentStop, type Request } from './orders.ts'
import { nextRound, type RoundPlan } from './round.ts'
import type { Spec } from '../spec/schema.ts'
import type { World } from './world.ts'

/** Orders for the members of the open round that need one, and for the members of the next round. */
export function memberRequests(world: World, plan: RoundPlan): Request[] {
  const round = world.campaign.round
  if (!round?.open) return []
  const again = plan.again.flatMap(id => {
    const purpose = round.combined.includes(id) ? 'combination' : 'experiment'
    return requestFor(world, id, round.number, purpose)
  })
  const combine = plan.combine === null ? [] : requestFor(world, plan.combine, round.number, 'combination')
  return [...again, ...combine]
}

export function newRound(world: World, refused: ReadonlySet<ExperimentId>): Request[] {
  const queued = Object.values(world.campaign.experiments).filter(
    experiment =>
      experiment.status === 'queued' && !refused.has(experiment.id) && measurable(world, experiment),
  )
  const undoing = queued.filter(experiment => experiment.purpose === 'revert').slice(0, 1)
  const chosen = undoing.length > 0 ? undoing.map(({ id }) => id) : selectRound(queued, roundSize(world.spec))
  const number = nextRound(world.campaign)
  return chosen.flatMap(id => requestFor(world, id, number, 'experiment'))
}

export function roundSize({ execution, parallel }: Spec): number {
  if (execution.mode === 'serial' || parallel.exclusive_resources.length > 0) return 1
  return Math.min(execution.max_concurrent, execution.max_experiments_per_tick ?? Infinity)
}

function measurable(world: World, experiment: Experiment): boolean {
  const facts = world.candidates.get(experiment.id)
  return facts?.merged === 'clean' && !facts.aheadOfSync
}

function requestFor(
  world: World,
  id: ExperimentId,
  round: number,
  purpose: 'experiment' | 'combination',
): Request[] {
  const experiment = world.campaign.experiments[id]
  const facts = world.candidates.get(id)
  const stop = experimentStop(world)
  if (!experiment || facts?.merged !== 'clean' || stop === null) return []
  const { head, tree } = facts
  return [
    {
      purpose: experiment.purpose === 'revert' ? 'revert' : purpose,
      round,
      attempt: attemptOf(world, experiment, purpose),
      cause: experiment.opened,
      candidates: [{ label: id, head, tree }],
      stop,
    },
  ]
}

/** Attempts count failures that were nobody's verdict; a combination starts its own count. */
function attemptOf(world: World, experiment: Experiment, purpose: 'experiment' | 'combination'): number {
  const last = experiment.order === null ? undefined : world.campaign.orders[experiment.order]
  if (!last) return experiment.attempts + 1
  const sameKind = (last.order.purpose === 'combination') === (purpose === 'combination')
  return sameKind ? last.order.attempt + 1 : 1
}
