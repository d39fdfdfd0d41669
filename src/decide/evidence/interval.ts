import { UserError } from '../../errors.ts'
import { toFinite } from '../../model/report.ts'
import {
  computeLnEvidence,
  type Difference,
  type MetricDirection,
  reverseDifferences,
  toComparable,
} from './rank-test.ts'
import type { EvidenceState } from './state.ts'

export type Interval = [low: number, high: number]

export type EffectEstimate = { effect: number | null; interval: Interval | null; pairs: number }

/**
 * Graded scores of items (decision 041). Most items may tie, and a tie says nothing about which side is
 * better: the rank process bets on the others alone. The gain is the mean over all items, ties among them,
 * since a rank estimate of mostly ties is 0.
 */
export type ScoreTerms = { minEffect: number }

/**
 * The confidence sequence of the rank process: all theta with E(d - theta) and E(theta - d)
 * below 2/(1 - level), its ends found by bisection. Valid no matter how often it is computed. Null while
 * unbounded, as it always is below 7 pairs.
 */
export function computeConfidenceInterval(
  differences: readonly Difference[],
  { level = 0.95 }: { level?: number } = {},
): Interval | null {
  if (!(level > 0 && level < 1)) throw new UserError(`a confidence level of ${level} is not between 0 and 1`)
  const lowest = findUpperEnd(reverseDifferences(differences), 2 / (1 - level))
  const highest = findUpperEnd(differences, 2 / (1 - level))
  return lowest === null || highest === null ? null : [0 - lowest, highest]
}

/** The smallest Walsh average above which every theta is refuted: E(theta - d) >= evidence. */
function findUpperEnd(differences: readonly Difference[], evidence: number): number | null {
  const averages = [...new Set(computeWalshAverages(differences))].filter(average => Number.isFinite(average))
  const points = listCandidatePoints(averages).toReversed()
  const reversed = reverseDifferences(differences)
  const open = findFirstOpen(points, theta => computeLnEvidence(reversed, -theta) >= Math.log(evidence))
  return averages[averages.length - open] ?? null
}

/** Ranks and signs about theta change at Walsh averages only, so one point of each gap represents it. */
function listCandidatePoints(averages: readonly number[]): number[] {
  const first = averages[0] ?? 0
  const last = averages.at(-1) ?? 0
  const inner = averages.slice(1).map((average, index) => (average + (averages[index] ?? average)) / 2)
  return [first - 1, ...inner, last + 1]
}

/** The first of the points at which theta is not refuted any more; -1 if none is refuted. */
function findFirstOpen(points: readonly number[], refuted: (theta: number) => boolean): number {
  if (!refuted(points[0] ?? 0)) return -1
  let known = 0
  let open = points.length - 1
  while (open - known > 1) {
    const middle = (known + open) >> 1
    if (refuted(points[middle] ?? 0)) known = middle
    else open = middle
  }
  return open
}

/** One-sided, at 95 %: it is known before both ends of an interval are. Null while unbounded. */
export function computeUpperBound(differences: readonly Difference[]): number | null {
  return findUpperEnd(differences, 1 / 0.05)
}

/** Cheaper than `computeStateEffect`; NaN without a pair. */
export function estimateEffect({ differences, rule }: Pick<EvidenceState, 'differences' | 'rule'>): number {
  return rule.graded
    ? computeScoreMean(differences, { minEffect: rule.min_effect })
    : estimateHodgesLehmann(differences)
}

function computeScoreMean(differences: readonly Difference[], terms: ScoreTerms): number {
  return toScoreDifferences(differences, terms).reduce((sum, each) => sum + each, 0) / differences.length
}

/** A candidate without a score has lost its item by as much as any item differed. */
function toScoreDifferences(differences: readonly Difference[], { minEffect }: ScoreTerms): number[] {
  const most = Math.max(minEffect, ...differences.map(each => Math.abs(each ?? 0)))
  return differences.map(each => each ?? -most)
}

export function computeStateEffect(state: Pick<EvidenceState, 'differences' | 'rule'>): EffectEstimate {
  const { differences, rule } = state
  return computeReportedEffect(differences, rule.graded ? { minEffect: rule.min_effect } : null)
}

/**
 * The effect to report: Hodges-Lehmann and 95 % interval of pairs that no stopping rule chose,
 * from one more job after a keep, or the progression test.
 */
export function computeReportedEffect(
  differences: readonly Difference[],
  /** Set where the differences are of scores: their mean is reported. */
  scores: ScoreTerms | null = null,
): EffectEstimate {
  const effect = scores === null ? estimateHodgesLehmann(differences) : computeScoreMean(differences, scores)
  const interval =
    scores === null ? computeConfidenceInterval(differences) : computeScoreInterval(differences, scores)
  return { effect: toFinite(effect), interval, pairs: differences.length }
}

/** Pairs after which the interval is meant to be narrowest. */
const NARROWEST_AFTER = 60

const SCORES_LEVEL = 0.05

/** Fewer items say too little about how much scores vary. */
const MIN_ITEMS = 7

/**
 * A 95 % confidence sequence of the mean (decision 2b, Howard and others), by the items' own standard
 * deviation. That is taken to be at least min_effect: items that all tie do not show that no item ever
 * differs.
 */
function computeScoreInterval(differences: readonly Difference[], terms: ScoreTerms): Interval | null {
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

/** All means of two differences (each with itself too), in order: where ranks or signs about theta change. */
export function computeWalshAverages(differences: readonly Difference[]): Float64Array {
  return listPairAverages(differences).sort()
}

function listPairAverages(differences: readonly Difference[]): Float64Array {
  const halves = Float64Array.from(differences, difference => toComparable(difference) / 2)
  const averages = new Float64Array((halves.length * (halves.length + 1)) / 2)
  let at = 0
  for (let index = 0; index < halves.length; index++) {
    const half = halves[index] ?? Number.NaN
    for (let other = 0; other <= index; other++) averages[at++] = half + (halves[other] ?? Number.NaN)
  }
  return averages
}

/**
 * The Hodges-Lehmann estimate: the median of all Walsh averages. NaN without a pair, -Infinity
 * when failed candidates outweigh the rest.
 */
export function estimateHodgesLehmann(differences: readonly Difference[]): number {
  const averages = listPairAverages(differences)
  const middle = averages.length >> 1
  const upper = moveIntoPlace(averages, middle)
  if (averages.length % 2 === 1) return upper
  let lower = averages[0] ?? Number.NaN
  for (let index = 1; index < middle; index++) lower = Math.max(lower, averages[index] ?? Number.NaN)
  return (lower + upper) / 2
}

/**
 * Moves the value of this rank to its place, and all smaller ones before it (Hoare's selection). Sorting them
 * all would take most of the time of a forecast, which estimates after every simulated pair.
 */
function moveIntoPlace(values: Float64Array, rank: number): number {
  let [left, right] = [0, values.length - 1]
  while (left < right) {
    const pivot = values[(left + right) >> 1] ?? Number.NaN
    let [low, high] = [left, right]
    while (low <= high) {
      while ((values[low] ?? pivot) < pivot) low++
      while ((values[high] ?? pivot) > pivot) high--
      if (low > high) break
      const moved = values[low] ?? pivot
      values[low++] = values[high] ?? pivot
      values[high--] = moved
    }
    if (rank <= high) right = high
    else if (rank >= low) left = low
    else break
  }
  return values[rank] ?? Number.NaN
}

/** Required besides a shown difference: the gain is large enough, and its interval lies above 0. */
export function isScoreGainEnough(differences: readonly Difference[], terms: ScoreTerms): boolean {
  const interval = computeScoreInterval(differences, terms)
  return interval !== null && interval[0] > 0 && computeScoreMean(differences, terms) >= terms.minEffect
}

const MEDIAN_ALPHA = 0.025

/**
 * The worst value that the median of a harness may have, with 97.5 % confidence and for every distribution,
 * from the binomial law of how many runs lie beyond it. Null below six runs, which cannot bound it.
 */
export function computeMedianBound(values: readonly number[], direction: MetricDirection): number | null {
  const worstFirst = values.toSorted((a, b) => (direction === 'minimize' ? b - a : a - b))
  let chance = 2 ** -values.length
  let below = chance
  if (below > MEDIAN_ALPHA) return null
  let rank = 0
  for (; rank + 1 < values.length; rank++) {
    chance *= (values.length - rank) / (rank + 1)
    if (below + chance > MEDIAN_ALPHA) break
    below += chance
  }
  return worstFirst[rank] ?? null
}
