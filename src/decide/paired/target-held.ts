import { aggregateValues } from '../../model/aggregate.ts'
import { computeReportedEffect } from '../evidence/reported-effect.ts'
import { isTargetReached } from '../targets.ts'
import { listObjectives, getScoreTerms } from '../objectives.ts'
import { computeDifferences, collectMetricPairs } from './metric-pairs.ts'
import { selectScale } from './objective-evidence.ts'
import type { PairedCase } from './rule.ts'

/** A target is reached when the cautious end of the interval reaches it (spec.md, stopping.target_reached). */
export function isTargetHeld({ spec, rule, jobs }: PairedCase): boolean {
  return isTargetReached(listObjectives(spec.metric), objective => {
    const { name, direction } = objective
    const pairs = collectMetricPairs(jobs, name)
    const scale = selectScale(rule, pairs)
    const { interval } = computeReportedEffect(
      computeDifferences(pairs, { direction, scale }),
      getScoreTerms(spec.metric, objective),
    )
    const base = aggregateValues(
      pairs.flatMap(pair => pair.base ?? []),
      'median',
    )
    if (interval === null || base === null) return undefined
    const gain = direction === 'minimize' ? -interval[0] : interval[0]
    return scale === 'log' ? base * Math.exp(gain) : base + gain
  })
}
