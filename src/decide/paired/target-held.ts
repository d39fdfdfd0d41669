import { aggregate } from '../../model/aggregate.ts'
import { effectOf } from '../evidence/reported-effect.ts'
import { targetReached } from '../targets.ts'
import { objectivesOf, scoreTermsOf } from '../objectives.ts'
import { differencesOf, metricPairs } from './metric-pairs.ts'
import { scaleFor } from './objective-evidence.ts'
import type { PairedCase } from './rule.ts'

/** A target is reached when the cautious end of the interval reaches it (spec.md, stopping.target_reached). */
export function targetHeld({ spec, rule, jobs }: PairedCase): boolean {
  return targetReached(objectivesOf(spec.metric), objective => {
    const { name, direction } = objective
    const pairs = metricPairs(jobs, name)
    const scale = scaleFor(rule, pairs)
    const { interval } = effectOf(
      differencesOf(pairs, { direction, scale }),
      scoreTermsOf(spec.metric, objective),
    )
    const base = aggregate(
      pairs.flatMap(pair => pair.base ?? []),
      'median',
    )
    if (interval === null || base === null) return undefined
    const gain = direction === 'minimize' ? -interval[0] : interval[0]
    return scale === 'log' ? base * Math.exp(gain) : base + gain
  })
}
