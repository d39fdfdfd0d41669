import { getAggregation } from '../model/aggregate.ts'
import type { Snapshot } from '../model/snapshot.ts'
import type { Spec } from '../spec/schema.ts'
import { computeMedianBound } from './evidence/median-bound.ts'
import { lookUpMetric } from './lookup.ts'
import { type Objective, listObjectives, computeSignedDelta } from './objectives.ts'

function isTargetMet(objective: Objective, value: number | undefined): boolean {
  if (objective.target === null || value === undefined) return false
  return computeSignedDelta(objective.target, value, objective.direction) >= 0
}

/** At least one required objective declares a target, and all that do meet it. */
export function isTargetReached(
  objectives: readonly Objective[],
  valueOf: (objective: Objective) => number | undefined,
): boolean {
  const aimed = objectives.filter(objective => objective.role === 'required' && objective.target !== null)
  return aimed.length > 0 && aimed.every(objective => isTargetMet(objective, valueOf(objective)))
}

/** Whether one side's stored numbers, the incumbent's say, already meet every declared target. */
export function areTargetsMet(spec: Pick<Spec, 'metric' | 'measurement'>, snapshot: Snapshot): boolean {
  const aggregation = getAggregation(spec)
  return isTargetReached(
    listObjectives(spec.metric),
    ({ name, judged }) => lookUpMetric(snapshot, name, { judged, aggregation })?.value,
  )
}

/** Where numbers vary, a target is met when even the cautious end of what the median may be meets it (spec.md). */
export function areTargetsShown(spec: Pick<Spec, 'metric'>, snapshot: Snapshot): boolean {
  return isTargetReached(listObjectives(spec.metric), ({ name, judged, direction }) => {
    const samples = lookUpMetric(snapshot, name, { judged, aggregation: 'median' })?.samples ?? []
    return computeMedianBound(samples, direction) ?? undefined
  })
}
