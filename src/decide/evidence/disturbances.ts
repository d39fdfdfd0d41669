import { computeMedian } from '../../model/report.ts'
import type { Difference } from './rank-test.ts'

/*
 * Parts of a difference that the machine explains. The coin of a pair is drawn before it runs, so a correction
 * that depends only on earlier pairs and on the size of this difference leaves its sign as fair as it was.
 */

/** Pairs as they were measured. */
export type MeasuredPairs = { measured: readonly Difference[]; base_first: readonly boolean[] }

const MIN_PAIRS_FOR_ORDER = 4
/** Share of the pairs in which the same place was the slower one. */
const SAME_PLACE = 0.85
const STANDARD_ERRORS = 4
/** MAD of a normal distribution times this is its standard deviation. */
const MAD_TO_SD = 1.4826
/** Standard error of a median, in those of a mean, for a normal distribution. */
const MEDIAN_ERROR = 1.25

/**
 * How much better the second run of a pair is than its first, for the same code. The mean of both orders, so
 * that the gain of the candidate cancels. 0 unless it exceeds the noise in nearly every pair.
 */
export function computeFirstRunCost({ measured, base_first }: MeasuredPairs): number {
  const known = measured.flatMap((difference, index) =>
    difference === null ? [] : [{ difference, baseFirst: base_first[index] === true }],
  )
  const base = known.filter(({ baseFirst }) => baseFirst).map(({ difference }) => difference)
  const candidate = known.filter(({ baseFirst }) => !baseFirst).map(({ difference }) => -difference)
  if (known.length < MIN_PAIRS_FOR_ORDER || base.length === 0 || candidate.length === 0) return 0
  const [baseCost, candidateCost] = [computeMedian(base), computeMedian(candidate)]
  const cost = (baseCost + candidateCost) / 2
  const same = [...base, ...candidate].filter(each => each * cost > 0).length
  if (same < SAME_PLACE * known.length) return 0
  const deviations = [
    ...base.map(each => Math.abs(each - baseCost)),
    ...candidate.map(each => Math.abs(each - candidateCost)),
  ]
  const spread = MAD_TO_SD * computeMedian(deviations)
  const error = (MEDIAN_ERROR * spread * Math.sqrt(1 / base.length + 1 / candidate.length)) / 2
  return Math.abs(cost) > STANDARD_ERRORS * error ? cost : 0
}

export function removeFirstRunCost(difference: Difference, baseFirst: boolean, cost: number): Difference {
  return difference === null ? null : difference - (baseFirst ? cost : -cost)
}

const MIN_PAIRS_FOR_SPEEDS = 8
/** Shares of the pairs at one speed, and across speeds. */
const MIN_SHARE = 0.25
/** Share of each group that may lie in the gap. */
const STRAYS = 0.15
/** In widths of a group: enough for an estimate. Evidence requires more, divided by the number of pairs. */
const MIN_GAP = 1.5
const CAUTION = 12

/**
 * Pairs with a larger difference had their two runs at different speeds of the machine. Infinity unless the
 * sizes fall into two groups, with a gap that is wider than either group.
 */
export function findSpeedBorder(differences: readonly Difference[], caution = CAUTION): number {
  const sizes = differences.flatMap(each => (each === null ? [] : [Math.abs(each)])).toSorted((a, b) => a - b)
  const count = sizes.length
  if (count < MIN_PAIRS_FOR_SPEEDS) return Number.POSITIVE_INFINITY
  const rest = Math.ceil(count * MIN_SHARE)
  const read = (from: number, to: number, share: number) =>
    sizes[Math.min(to - 1, from + Math.floor(share * (to - from)))] ?? Number.NaN
  let [widest, border] = [MIN_GAP + caution / count, Number.POSITIVE_INFINITY]
  for (let at = rest; at <= count - rest; at++) {
    const [below, above] = [read(0, at, 1 - STRAYS), read(at, count, STRAYS)]
    const width = Math.max(read(0, at, 0.5), (read(at, count, 0.75) - read(at, count, 0.25)) / 2)
    if (above - below <= widest * width) continue
    widest = (above - below) / width
    border = (below + above) / 2
  }
  return border
}

/**
 * A difference across speeds, about the usual one of its direction: what is left compares like with like. 0
 * while only one direction was seen, because a large effect looks the same.
 */
export function compareAcrossSpeeds(
  earlier: readonly Difference[],
  difference: Difference,
  border: number,
): Difference {
  if (difference === null || Math.abs(difference) <= border) return difference
  const across = earlier.filter(each => each !== null).filter(each => Math.abs(each) > border)
  const gains = across.filter(each => each > 0)
  const losses = across.filter(each => each < 0)
  if (gains.length === 0 || losses.length === 0) return 0
  const usual = (computeMedian(gains) - computeMedian(losses)) / 2
  return Math.sign(difference) * (Math.abs(difference) - usual)
}

/** As long as nothing is known of differences across speeds. */
export function leaveOutAcrossSpeeds(differences: readonly Difference[], border: number): Difference[] {
  return differences.map(each => (each !== null && Math.abs(each) > border ? 0 : each))
}

/**
 * Pairs tie, and those that do not differ by more than min_effect: the metric counts in steps that hide
 * min_effect, so that a tie says nothing.
 */
export function hasCoarseSteps(measured: readonly Difference[], minEffect: number): boolean {
  const others = measured.filter(each => each !== null).filter(each => each !== 0)
  const tie = measured.includes(0) && others.length > 0
  return tie && others.every(each => Math.abs(each) > minEffect)
}

/** Corrects all pairs by the order effect that is known now. Only estimates may use it, because evidence must not look ahead. */
export function listExplainedDifferences(pairs: MeasuredPairs): Difference[] {
  const cost = computeFirstRunCost(pairs)
  return pairs.measured.map((each, index) => removeFirstRunCost(each, pairs.base_first[index] === true, cost))
}

/** Pairs whose runs had the same speed; all where there is only one. */
export function selectSameSpeed(differences: readonly Difference[]): Difference[] {
  const border = findSpeedBorder(differences, 0)
  return differences.filter(each => each === null || Math.abs(each) <= border)
}
