import { computeMedian } from '../../model/report.ts'
import { estimateHodgesLehmann } from './interval.ts'
import { computeSignedDifference, type MetricMeasure } from './rank-test.ts'

/**
 * A gain of the median does not show that the mean gains: a change may be faster in most runs and much slower in a
 * few. A mean test says little about that from few pairs with heavy tails, so the check has two parts. It needs
 * enough runs to have seen a slow one, and if one was seen, it asks whether the base has runs like that too.
 */
export type MeasuredPair = { base: number; candidate: number }

/** Pairs of one job, which ran on one machine. */
export type JobPairs = readonly MeasuredPair[]

export type SlowRunsInput = {
  jobs: readonly JobPairs[]
  measure: MetricMeasure
  /** Begun pairs that were lost: any of them may have been a slow run of the candidate. */
  lost: number
  /** The share of slow runs to exclude. */
  share: number
}

export type SlowRunsVerdict = {
  /** shared: runs of the base are as slow, so the candidate is not slower than it. */
  is: 'harmless' | 'shared' | 'slower' | 'open'
  /** Runs of the candidate that the verdict needs. */
  needed: number
}

/** Chance to see no slow run where their share is the one to exclude. */
const MISS_CHANCE = 0.0075

/** A slow run takes three times as long as usual: this much more, as a share of the usual time. */
const SLOW_RUN_EXCESS = 2
const LARGEST_SHARE = 0.5

/** Standard errors by which the mean has to stay a gain. */
const HARMLESS_ERRORS = 2.6
/** Below this many, the slow runs of both sides balance. */
const SHARED_ERRORS = 0.5
const SLOWER_ERRORS = 2.5
/** Enough where the base has shown no run that is half as slow as this many of the candidate. */
const ONLY_CANDIDATE_ERRORS = 1.65
const ONLY_CANDIDATE_RUNS = 4
/** Runs after which an open question counts as balanced, as a multiple of the needed ones. */
const LONGEST_SEARCH = 2.5

/**
 * Judges whether slow runs of the candidate eat its gain. `harmless`: they do not, with a margin for runs that were
 * not seen. Each of the other answers needs a slow run.
 */
export function judgeSlowRuns(input: SlowRunsInput): SlowRunsVerdict {
  const { jobs, measure, lost, share } = input
  const pairs = jobs.flat()
  const gain = estimateHodgesLehmann(
    pairs.map(({ base, candidate }) => computeSignedDifference(measure, base, candidate)),
  )
  const slow = measureSlowRun(measure, pairs)
  const allowed = toAllowedExcess(measure, gain)
  const needed = countNeededRuns(Math.max(share, allowed / slow))
  if (!(allowed > 0) || pairs.length < needed) return { is: 'open', needed }
  const excesses = [
    ...jobs.flatMap(job => listExcesses(job, measure, gain)),
    ...Array.from({ length: lost }, () => slow),
  ]
  const sum = excesses.reduce((total, each) => total + each, 0)
  const error = Math.sqrt(excesses.reduce((total, each) => total + each ** 2, 0))
  if (sum + HARMLESS_ERRORS * error <= allowed * pairs.length) return { is: 'harmless', needed }
  if (sum <= SHARED_ERRORS * error) return { is: 'shared', needed }
  const most = Math.ceil(LONGEST_SEARCH * needed)
  const isDue = sum > allowed * pairs.length || pairs.length >= most
  if (isDue && isSlowerThanBase(excesses, { sum, error })) return { is: 'slower', needed }
  return pairs.length < most ? { is: 'open', needed: most } : { is: 'shared', needed }
}

/** With few slow runs chance gives all of them to the candidate, unless the base has shown nothing like them. */
function isSlowerThanBase(
  excesses: readonly number[],
  { sum, error }: { sum: number; error: number },
): boolean {
  if (sum >= SLOWER_ERRORS * error) return true
  return sum >= ONLY_CANDIDATE_ERRORS * error && isOnlyCandidateSlow(excesses)
}

/** Runs after which a share of slow runs would have shown itself. */
export function countNeededRuns(share: number): number {
  return Math.ceil(Math.log(MISS_CHANCE) / Math.log(1 - Math.min(LARGEST_SHARE, share)))
}

/** The share of slow runs that eats this gain of a time, as a difference of logarithms. */
export function toSlowShare(gain: number): number {
  return Math.expm1(gain) / SLOW_RUN_EXCESS
}

/** How much worse a slow run is than usual, in the units of `listExcesses`. */
function measureSlowRun({ direction, scale }: MetricMeasure, pairs: JobPairs): number {
  if (scale === 'linear') return SLOW_RUN_EXCESS * Math.abs(computeMedian(pairs.map(({ base }) => base)))
  return direction === 'minimize' ? SLOW_RUN_EXCESS : SLOW_RUN_EXCESS / (1 + SLOW_RUN_EXCESS)
}

/** The average excess that turns this gain of the median into a loss of the mean. */
function toAllowedExcess({ direction, scale }: MetricMeasure, gain: number): number {
  if (scale === 'linear') return gain
  return direction === 'minimize' ? Math.expm1(gain) : -Math.expm1(-gain)
}

/**
 * For each pair, how much worse the candidate's run was than the base's, beyond what the gain explains: positive
 * where the candidate was slow, negative where the base was. If nothing but the gain differs, both signs are equally
 * likely, also in noise with heavy tails.
 */
function listExcesses(job: JobPairs, measure: MetricMeasure, gain: number): number[] {
  if (measure.scale === 'linear')
    return job.map(({ base, candidate }) => gain - computeSignedDifference(measure, base, candidate))
  const sign = measure.direction === 'minimize' ? 1 : -1
  const aligned = job.map(({ base, candidate }) => ({ base, candidate: candidate * Math.exp(sign * gain) }))
  const usual = computeMedian(aligned.flatMap(({ base, candidate }) => [base, candidate]))
  return aligned.map(({ base, candidate }) => (sign * (candidate - base)) / usual)
}

function isOnlyCandidateSlow(excesses: readonly number[]): boolean {
  const slowest = excesses.toSorted((a, b) => b - a)
  const seen = slowest[ONLY_CANDIDATE_RUNS - 1] ?? 0
  return seen > -2 * (slowest.at(-1) ?? 0)
}

// Estimates

export type MeanEffect = {
  /** Of the mean, trimmed by nothing, on the metric's scale; positive is better. */
  mean: number
  /** The difference that one pair in twenty stays below. */
  worst: number
}

const WORST_SHARE = 0.05

/** Null without a pair. Each job is compared with its own usual value, so that a slow machine weighs no more. */
export function estimateMeanEffect(jobs: readonly JobPairs[], measure: MetricMeasure): MeanEffect | null {
  const pairs = jobs.flat()
  if (pairs.length === 0) return null
  const differences = pairs.map(({ base, candidate }) => computeSignedDifference(measure, base, candidate))
  const worst = differences.toSorted((a, b) => a - b)[Math.floor(WORST_SHARE * pairs.length)] ?? 0
  if (measure.scale === 'linear') return { mean: computeAverage(differences), worst }
  const shares = jobs.flatMap(job => {
    const usual = computeMedian(job.map(({ base }) => base))
    return job.map(({ base, candidate }) => ({ base: base / usual, candidate: candidate / usual }))
  })
  const [base, candidate] = [
    computeAverage(shares.map(each => each.base)),
    computeAverage(shares.map(each => each.candidate)),
  ]
  return { mean: computeSignedDifference(measure, base, candidate), worst }
}

function computeAverage(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
