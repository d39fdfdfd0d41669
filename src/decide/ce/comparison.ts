import type { Spec } from '../../spec/schema.ts'
import {
  computeRelativeGain,
  computeSignedDelta,
  type MaxRegression,
  type MetricReading,
  type Objective,
} from '../metrics.ts'
import type { TieBreaker, TieComparison } from '../tie-breakers.ts'

type ComparisonVerdict = 'improved' | 'regressed' | 'inconclusive'

export type Comparison = { verdict: ComparisonVerdict; delta: number; relative: number; violated: boolean }

export type Thresholds = {
  method: NonNullable<Spec['measurement']['stability']>['comparison']['method']
  noise: number
  relative: number
  /** The gain that a judge metric needs, under every method. */
  minimumImprovement: number
}

/** The largest loss that is no violation; null where max_regression has no usable value. */
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

type ComparableMetric = Pick<Objective, 'direction' | 'judged'>

function compareByMethod(
  objective: ComparableMetric,
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

/**
 * Combinations are compared like ideas: ce-optimize asks there for "strictly better" alone, which one of two
 * equal candidates is in half of all measurements (docs/decisions/038).
 */
function compareWithThreshold(delta: number, threshold: number): ComparisonVerdict {
  if (delta > threshold) return 'improved'
  return delta < -threshold ? 'regressed' : 'inconclusive'
}

function comparePaired(
  objective: ComparableMetric,
  base: MetricReading,
  candidate: MetricReading,
  rules: Thresholds,
) {
  if (base.value === 0) return 'inconclusive'
  const threshold = rules.relative * Math.abs(base.value)
  const pairs = computeSampleDifferences(objective, base, candidate)
  if (pairs.length > 0) {
    if (pairs.every(difference => difference > threshold)) return 'improved'
    return pairs.every(difference => difference < -threshold) ? 'regressed' : 'inconclusive'
  }
  const delta = computeSignedDelta(base.value, candidate.value, objective.direction)
  if (objective.judged) return compareWithThreshold(delta, rules.minimumImprovement)
  return delta < -threshold ? 'regressed' : 'inconclusive'
}

/** Differences index by index; a base with fewer samples repeats its last. */
function computeSampleDifferences(
  objective: ComparableMetric,
  base: MetricReading,
  candidate: MetricReading,
): number[] {
  const last = base.samples.at(-1)
  if (last === undefined) return []
  return candidate.samples.map((value, index) =>
    computeSignedDelta(base.samples[index] ?? last, value, objective.direction),
  )
}

const TIE_COMPARISONS = {
  improved: 'better',
  regressed: 'worse',
  inconclusive: 'even',
} as const satisfies Record<ComparisonVerdict, TieComparison>

/** noise_threshold is in the unit of the primary, so a tie-breaker is always compared by its share of the base. */
export function compareStoredTie(
  { direction }: TieBreaker,
  base: MetricReading | null,
  candidate: MetricReading | null,
  rules: Thresholds,
): TieComparison {
  if (base === null || candidate === null) return 'missing'
  const delta = computeSignedDelta(base.value, candidate.value, direction)
  if (!Number.isFinite(delta)) return 'missing'
  const method = rules.method === 'absolute' ? 'relative' : rules.method
  const verdict =
    base.value === 0
      ? compareWithThreshold(delta, 0)
      : compareByMethod({ direction, judged: false }, base, candidate, { ...rules, method })
  return TIE_COMPARISONS[verdict]
}

/** The primary's relative gain if it improved, else the best among those that did, else the primary's. */
export function computeRankScore(primary: Comparison, improved: readonly Comparison[]): number {
  if (primary.verdict === 'improved' || improved.length === 0) return primary.relative
  return Math.max(...improved.map(comparison => comparison.relative))
}
