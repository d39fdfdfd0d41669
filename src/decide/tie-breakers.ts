import type { Execution } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { type Direction, objectivesOf, signedDelta } from './objectives.ts'
import { pairOf } from './readings.ts'

type TieBreaker = { name: string; direction: Direction }

export function tieBreakersOf(policy: Spec['policy']): TieBreaker[] {
  return policy.tie_breakers.map(rule =>
    'lower' in rule
      ? { name: rule.lower, direction: 'minimize' }
      : { name: rule.higher, direction: 'maximize' },
  )
}

/** Every metric whose value can change a verdict: what must repeat exactly. */
export function decisiveMetrics(spec: Pick<Spec, 'metric' | 'policy'>): string[] {
  const objectives = objectivesOf(spec.metric).map(objective => objective.name)
  return [...new Set([...objectives, ...tieBreakersOf(spec.policy).map(tie => tie.name)])]
}

/** The first tie-breaker that differs decides; one without a value decides nothing, nor do those after it. */
export function tieWon(policy: Spec['policy'], base: Execution, candidate: Execution): string | null {
  for (const tie of tieBreakersOf(policy)) {
    const pair = pairOf(tie.name, base, candidate)
    if (pair === null) return null
    const delta = signedDelta(pair.base, pair.candidate, tie.direction)
    if (delta !== 0) return delta > 0 ? tie.name : null
  }
  return null
}
