import type { Execution } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { type ObjectiveDirection, listObjectives, computeSignedDelta } from './objectives.ts'
import { readValuePair } from './readings.ts'

type TieBreaker = { name: string; direction: ObjectiveDirection }

export function listTieBreakers(policy: Spec['policy']): TieBreaker[] {
  return policy.tie_breakers.map(rule =>
    'lower' in rule
      ? { name: rule.lower, direction: 'minimize' }
      : { name: rule.higher, direction: 'maximize' },
  )
}

/** Every metric whose value can change a verdict: what must repeat exactly. */
export function listDecisiveMetrics(spec: Pick<Spec, 'metric' | 'policy'>): string[] {
  const objectives = listObjectives(spec.metric).map(objective => objective.name)
  return [...new Set([...objectives, ...listTieBreakers(spec.policy).map(tie => tie.name)])]
}

/** The first tie-breaker that differs decides; one without a value decides nothing, nor do those after it. */
export function findTieWinner(policy: Spec['policy'], base: Execution, candidate: Execution): string | null {
  for (const tie of listTieBreakers(policy)) {
    const pair = readValuePair(tie.name, base, candidate)
    if (pair === null) return null
    const delta = computeSignedDelta(pair.base, pair.candidate, tie.direction)
    if (delta !== 0) return delta > 0 ? tie.name : null
  }
  return null
}
