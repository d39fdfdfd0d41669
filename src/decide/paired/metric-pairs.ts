import type { PairJob, Pair } from '../../model/pairs.ts'
import { type MetricMeasure, computeSignedDifference } from '../evidence/difference.ts'
import { endJob } from '../evidence/job.ts'
import { resetKeepSide, observePair } from '../evidence/observe-pair.ts'
import type { Difference } from '../evidence/rank-evidence.ts'
import type { EvidenceState } from '../evidence/state.ts'

/** One metric's value on both sides of a pair; null for a side that failed, or that did not print it. */
export interface MetricPair {
  base: number | null
  candidate: number | null
  /** The run was interrupted after this pair had begun. */
  lost?: true | undefined
}

function getMetricValue(readings: Pair['base'], metric: string): number | null {
  return readings?.[metric] ?? null
}

export function collectMetricPairs(jobs: readonly PairJob[], metric: string): MetricPair[] {
  return jobs.flatMap(({ pairs }) =>
    pairs.map(({ base, candidate, lost }) => ({
      base: getMetricValue(base, metric),
      candidate: getMetricValue(candidate, metric),
      ...(lost ? { lost } : {}),
    })),
  )
}

const LOST_PAIR: MetricPair = { base: null, candidate: null, lost: true }

/**
 * The pairs by which something may be let through, with every pair that was lost as a loss: whoever could end the
 * machine when it falls behind gains nothing by that (decision 039). After a job of which nothing is known they start
 * again, with one loss for each such job.
 */
export function computeKeepDifferences(
  jobs: readonly PairJob[],
  metric: string,
  measure: MetricMeasure,
): Difference[] {
  const gaps = jobs.filter(({ unreported }) => unreported).length
  const since = jobs.slice(jobs.findLastIndex(({ unreported }) => unreported) + 1)
  const pairs = [...Array.from({ length: gaps }, () => LOST_PAIR), ...collectMetricPairs(since, metric)]
  return pairs.flatMap(pair => (pair.lost ? [null] : computeDifferences([pair], measure)))
}

/** Positive is better; a pair without a base is void, a candidate without a value has lost it. */
export function computeDifferences(pairs: readonly MetricPair[], measure: MetricMeasure): Difference[] {
  return pairs.flatMap(({ base, candidate }): Difference[] => {
    if (base === null) return []
    return [candidate === null ? null : computeSignedDifference(measure, base, candidate)]
  })
}

export function hasLogarithms(pairs: readonly MetricPair[]): boolean {
  return pairs.every(({ base, candidate }) => (base ?? 1) > 0 && (candidate ?? 1) > 0)
}

/** The middle of what the base printed, without its sign: what a share is a share of. */
export function computeTypicalBase(pairs: readonly MetricPair[]): number {
  const values = pairs
    .flatMap(({ base }) => (base === null ? [] : [Math.abs(base)]))
    .toSorted((a, b) => a - b)
  return values[values.length >> 1] ?? 0
}

/** The evidence of all jobs, in the order in which they were run. */
export function observeJobs(start: EvidenceState, jobs: readonly PairJob[], metric: string): EvidenceState {
  let state = start
  let gaps = 0
  for (const { order: job, runner, also_on, complete, unreported, pairs } of jobs) {
    if (unreported) state = resetKeepSide(state, ++gaps)
    for (const { first, base, candidate, lost } of pairs) {
      state = observePair(state, {
        also_on,
        lost,
        base: getMetricValue(base, metric),
        candidate: getMetricValue(candidate, metric),
        job,
        runner,
        order: first === 'base' ? 'base-first' : 'candidate-first',
      })
    }
    if (complete && state.jobs.at(-1)?.id === job) state = endJob(state, job)
  }
  return state
}
