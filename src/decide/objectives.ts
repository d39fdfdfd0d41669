import type { ScoreTerms } from './evidence/scores.ts'
import type { Spec } from '../spec/schema.ts'

type ObjectiveSections = Pick<Spec['metric'], 'primary' | 'objectives'>
type JudgeScoreSection = Pick<Spec['metric'], 'judge'>
export type ObjectiveDirection = Spec['metric']['primary']['direction']
export type MaxRegression = NonNullable<Spec['metric']['objectives'][number]['max_regression']>

/** A metric that can make or break a verdict: the primary, every required objective, every guardrail. */
export type Objective = {
  name: string
  direction: ObjectiveDirection
  role: 'required' | 'guardrail'
  judged: boolean
  target: number | null
  maxRegression: MaxRegression | null
}

/** The primary comes first; an entry under its name fills what it leaves unset, unless it is `secondary`. */
export function listObjectives(metric: ObjectiveSections): [Objective, ...Objective[]] {
  const { primary } = metric
  const listed = metric.objectives.find(entry => entry.name === primary.name && entry.role !== 'secondary')
  const others: Objective[] = []
  for (const entry of metric.objectives) {
    if (entry.name === primary.name || entry.role === 'secondary') continue
    others.push({
      name: entry.name,
      direction: entry.direction,
      role: entry.role,
      judged: false,
      target: entry.target,
      maxRegression: entry.max_regression,
    })
  }
  const first: Objective = {
    name: primary.name,
    direction: primary.direction,
    role: 'required',
    judged: primary.type === 'judge',
    target: primary.target ?? listed?.target ?? null,
    maxRegression: listed?.max_regression ?? null,
  }
  return [first, ...others]
}

/** How the scores of a judged objective are read; null for one that is measured. */
export function getScoreTerms({ judge }: JudgeScoreSection, { judged }: Objective): ScoreTerms | null {
  return judged && judge !== null ? { minEffect: judge.minimum_improvement || Number.MIN_VALUE } : null
}

/** Positive is better, always. */
export function computeSignedDelta(base: number, candidate: number, direction: ObjectiveDirection): number {
  return direction === 'minimize' ? base - candidate : candidate - base
}

/** Gain as a fraction of the base; 0 for a base of 0, and always finite, so that it can be stored. */
export function computeRelativeGain(delta: number, base: number): number {
  if (base === 0) return 0
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, delta / Math.abs(base)))
}
