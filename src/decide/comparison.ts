import type { Spec } from '../spec/schema.ts'
import type { MetricReading } from './lookup.ts'
import { type MaxRegression, type Objective, computeRelativeGain, computeSignedDelta } from './objectives.ts'

export type ComparisonVerdict = 'improved' | 'regressed' | 'inconclusive'
export type Comparison = { verdict: ComparisonVerdict; delta: number; relative: number; violated: boolean }

type StabilitySettings = NonNullable<Spec['measurement']['stability']>
export type Thresholds = {
  method: StabilitySettings['comparison']['method']
  noise: number
  relative: number
  /** What a judge metric must gain, whatever the method. */
  minimumImprovement: number
}

/**
 * Combinations are compared like ideas: ce-optimize asks there for "strictly better" alone, which one of two equal candidates
 * is in half of all measurements (docs/decisions/038).
 */
function compareWithThreshold(delta: number, threshold: number): ComparisonVerdict {
  if (delta > threshold) return 'improved'
  return delta < -threshold ? 'regressed' : 'inconclusive'
}

function compareDifferences(differences: readonly number[], threshold: number): ComparisonVerdict {
  if (differences.every(difference => difference > threshold)) return 'improved'
  return differences.every(difference => difference < -threshold) ? 'regressed' : 'inconclusive'
}

/** Differences index by index; a base with fewer samples repeats its last. */
function computeSampleDifferences(
  objective: Objective,
  base: MetricReading,
  candidate: MetricReading,
): number[] {
  const last = base.samples.at(-1)
  if (last === undefined) return []
  return candidate.samples.map((value, index) =>
    computeSignedDelta(base.samples[index] ?? last, value, objective.direction),
  )
}

function comparePaired(
  objective: Objective,
  base: MetricReading,
  candidate: MetricReading,
  rules: Thresholds,
) {
  if (base.value === 0) return 'inconclusive'
  const threshold = rules.relative * Math.abs(base.value)
  const pairs = computeSampleDifferences(objective, base, candidate)
  if (pairs.length > 0) return compareDifferences(pairs, threshold)
  const delta = computeSignedDelta(base.value, candidate.value, objective.direction)
  if (objective.judged) return compareWithThreshold(delta, rules.minimumImprovement)
  return delta < -threshold ? 'regressed' : 'inconclusive'
}

function compareByMethod(
  objective: Objective,
  base: MetricReading,
  candidate: MetricReading,
  rules: Thresholds,
) {
  const delta = computeSignedDelta(base.value, candidate.value, objective.direction)
  switch (rules.method) {
    case 'absolute':
      return compareWithThreshold(delta, objective.judged ? rules.minimumImprovement : rules.noise)
    case 'relative':
      return base.value === 0
        ? 'inconclusive'
        : compareWithThreshold(computeRelativeGain(delta, base.value), rules.relative)
    case 'paired':
      return comparePaired(objective, base, candidate, rules)
    default:
      return rules.method satisfies never
  }
}

/** How much worse is still no violation; null where max_regression says nothing usable. */
export function computeRegressionBound(maxRegression: MaxRegression | null, base: number): number | null {
  if (maxRegression === null || !(maxRegression.value >= 0)) return null
  return maxRegression.type === 'relative' ? maxRegression.value * Math.abs(base) : maxRegression.value
}

/** ce-optimize's rules for one metric; null when the difference itself is not a finite number. */
export function compareMetric(
  objective: Objective,
  base: MetricReading,
  candidate: MetricReading,
  rules: Thresholds,
): Comparison | null {
  const delta = computeSignedDelta(base.value, candidate.value, objective.direction)
  if (!Number.isFinite(delta)) return null
  const relative = computeRelativeGain(delta, base.value)
  const found = compareByMethod(objective, base, candidate, rules)
  const tooSmall = objective.judged && found === 'improved' && delta <= rules.minimumImprovement
  const verdict = tooSmall ? 'inconclusive' : found
  const bound = verdict === 'improved' ? null : computeRegressionBound(objective.maxRegression, base.value)
  if (bound === null) return { verdict, delta, relative, violated: verdict === 'regressed' }
  const violated = -delta > bound
  return { verdict: violated ? 'regressed' : verdict, delta, relative, violated }
}
