import { isPicked, listSubjects } from '../model/picked.ts'
import type { PlanStep } from './action.ts'
import { buildDecidedDraft } from './judgement.ts'
import type { World } from './world.ts'

/** So often an experiment goes on after an interruption by itself, and again whenever it is retried. */
export const MAX_INTERRUPTIONS = 5

/**
 * An idea that ends its own machine would be measured for ever. Nothing is known against it either: it is parked as not
 * proven, with the pairs it has (decision 039).
 */
export function parkRepeatedlyLost(world: World): PlanStep[] {
  const stuck = listSubjects(world.campaign).filter(
    ({ status, interrupted }) =>
      (status === 'queued' || status === 'measured') && interrupted >= MAX_INTERRUPTIONS,
  )
  return stuck.map(experiment => ({
    step: 'event',
    draft: buildDecidedDraft({
      experiment,
      order: null,
      outcome: 'inconclusive',
      assessment: null,
      reason: describeInterruptions(experiment.interrupted),
      cause: `${experiment.opened} interrupted ${experiment.resumed}`,
      parked: !isPicked(experiment),
    }),
  }))
}

export function describeInterruptions(times: number): string {
  return `measuring was interrupted ${times} times; a retry goes on with what was measured`
}
