import type { Interval } from './confidence-interval.ts'
import type { Difference } from './rank-evidence.ts'

/**
 * Graded scores of items (decision 041). Most items may tie, and a tie says nothing about which side is better: the
 * rank process bets on the others alone. How much is gained is the mean over all items, ties among them, since a rank
 * estimate of mostly ties is 0.
 */
export type ScoreTerms = { minEffect: number }

/** Pairs after which the interval is meant to be narrowest. */
const BEST_AFTER = 60
const LEVEL = 0.05
/** Fewer items say too little about how much scores vary. */
const LEAST_ITEMS = 7

/** A candidate without a score has lost its item by as much as any item differed. */
function valuesOf(differences: readonly Difference[], { minEffect }: ScoreTerms): number[] {
  const most = Math.max(minEffect, ...differences.map(each => Math.abs(each ?? 0)))
  return differences.map(each => each ?? -most)
}

/** The mean difference; NaN without an item. */
export function meanOfScores(differences: readonly Difference[], terms: ScoreTerms): number {
  return valuesOf(differences, terms).reduce((sum, each) => sum + each, 0) / differences.length
}

/**
 * A 95 % confidence sequence of the mean (decision 2b, Howard and others), by the items' own standard deviation. That is
 * taken to be at least min_effect: items that all tie do not show that no item ever differs.
 */
export function intervalOfScores(differences: readonly Difference[], terms: ScoreTerms): Interval | null {
  const items = differences.length
  if (items < LEAST_ITEMS) return null
  const mean = meanOfScores(differences, terms)
  const squares = valuesOf(differences, terms).reduce((sum, each) => sum + (each - mean) ** 2, 0)
  const spread = Math.max(terms.minEffect, Math.sqrt(squares / (items - 1)))
  const rho = (-2 * Math.log(LEVEL) + Math.log(-2 * Math.log(LEVEL)) + 1) / BEST_AFTER
  const grown = items * rho + 1
  const reach = spread * Math.sqrt((grown / (items ** 2 * rho)) * 2 * Math.log(Math.sqrt(grown) / LEVEL))
  return [mean - reach, mean + reach]
}

/** Worth keeping besides being shown to differ: the gain is large enough, and its interval lies above 0. */
export function scoresGainEnough(differences: readonly Difference[], terms: ScoreTerms): boolean {
  const interval = intervalOfScores(differences, terms)
  return interval !== null && interval[0] > 0 && meanOfScores(differences, terms) >= terms.minEffect
}
