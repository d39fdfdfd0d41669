import { aggregationOf } from '../model/aggregate.ts'
import type { Snapshot } from '../model/snapshot.ts'
import type { Spec } from '../spec/schema.ts'
import { medianBound } from './evidence/median-bound.ts'
import { lookUp } from './lookup.ts'
import { type Objective, objectivesOf, signedDelta } from './objectives.ts'

function meetsTarget(objective: Objective, value: number | undefined): boolean {
  if (objective.target === null || value === undefined) return false
  return signedDelta(objective.target, value, objective.direction) >= 0
}

/** At least one required objective declares a target, and all that do meet it. */
export function targetReached(
  objectives: readonly Objective[],
  valueOf: (objective: Objective) => number | undefined,
): boolean {
  const aimed = objectives.filter(objective => objective.role === 'required' && objective.target !== null)
  return aimed.length > 0 && aimed.every(objective => meetsTarget(objective, valueOf(objective)))
}

/** Whether one side's stored numbers, the incumbent's say, already meet every declared target. */
export function targetsMet(spec: Pick<Spec, 'metric' | 'measurement'>, snapshot: Snapshot): boolean {
  const aggregation = aggregationOf(spec)
  return targetReached(
    objectivesOf(spec.metric),
    ({ name, judged }) => lookUp(snapshot, name, { judged, aggregation })?.value,
  )
}

/** Where numbers vary, a target is met when even the cautious end of what the median may be meets it (spec.md). */
export function targetsShown(spec: Pick<Spec, 'metric'>, snapshot: Snapshot): boolean {
  return targetReached(objectivesOf(spec.metric), ({ name, judged, direction }) => {
    const samples = lookUp(snapshot, name, { judged, aggregation: 'median' })?.samples ?? []
    return medianBound(samples, direction) ?? undefined
  })
}
