import type { Interval } from './confidence-interval.ts'
import type { Difference } from './rank-evidence.ts'

/**
 * Graded scores of items (decision 041). Most items may tie, and a tie says nothing about which side is better: the
 * rank process bets on the others alone. How much is gained is the mean over all items, ties among them, since a rank
 * estimate of mostly ties is 0.
 */
export type ScoreTerms = { minEffect: number }

/** Pairs after which the interval is meant to be narrowest. */
const NARROWEST_AFTER = 60
const SCORES_LEVEL = 0.05
/** Fewer items say too little about how much scores vary. */
const MIN_ITEMS = 7

/** A candidate without a score has lost its item by as much as any item differed. */
function toScoreDifferences(differences: readonly Difference[], { minEffect }: ScoreTerms): number[] {
  const most = Math.max(minEffect, ...differences.map(each => Math.abs(each ?? 0)))
  return differences.map(each => each ?? -most)
}

/** The mean difference; NaN without an item. */
export function computeScoreMean(differences: readonly Difference[], terms: ScoreTerms): number {
  return toScoreDifferences(differences, terms).reduce((sum, each) => sum + each, 0) / differences.length
}

/**
 * A 95 % confidence sequence of the mean (decision 2b, Howard and others), by the items' own standard deviation. That is
 * taken to be at least min_effect: items that all tie do not show that no item ever differs.
 */
export function computeScoreInterval(differences: readonly Difference[], terms: ScoreTerms): Interval | null {
  const items = differences.length
  if (items < MIN_ITEMS) return null
  const mean = computeScoreMean(differences, terms)
  const squares = toScoreDifferences(differences, terms).reduce((sum, each) => sum + (each - mean) ** 2, 0)
  const spread = Math.max(terms.minEffect, Math.sqrt(squares / (items - 1)))
  const rho = (-2 * Math.log(SCORES_LEVEL) + Math.log(-2 * Math.log(SCORES_LEVEL)) + 1) / NARROWEST_AFTER
  const grown = items * rho + 1
  const reach =
    spread * Math.sqrt((grown / (items ** 2 * rho)) * 2 * Math.log(Math.sqrt(grown) / SCORES_LEVEL))
  return [mean - reach, mean + reach]
}

/** Worth keeping besides being shown to differ: the gain is large enough, and its interval lies above 0. */
export function isScoreGainEnough(differences: readonly Difference[], terms: ScoreTerms): boolean {
  const interval = computeScoreInterval(differences, terms)
  return interval !== null && interval[0] > 0 && computeScoreMean(differences, terms) >= terms.minEffect
}
