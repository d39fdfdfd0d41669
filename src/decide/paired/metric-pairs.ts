import type { Job, Pair } from '../../model/pairs.ts'
import { type Measure, signedDifference } from '../evidence/difference.ts'
import { endJob } from '../evidence/job.ts'
import { keepSideLost, observePair } from '../evidence/observe-pair.ts'
import type { Difference } from '../evidence/rank-evidence.ts'
import type { EvidenceState } from '../evidence/state.ts'

/** One metric's value on both sides of a pair; null for a side that failed, or that did not print it. */
export interface MetricPair {
  base: number | null
  candidate: number | null
  /** The run was interrupted after this pair had begun. */
  lost?: true | undefined
}

function valueOf(readings: Pair['base'], metric: string): number | null {
  return readings?.[metric] ?? null
}

export function metricPairs(jobs: readonly Job[], metric: string): MetricPair[] {
  return jobs.flatMap(({ pairs }) =>
    pairs.map(({ base, candidate, lost }) => ({
      base: valueOf(base, metric),
      candidate: valueOf(candidate, metric),
      ...(lost ? { lost } : {}),
    })),
  )
}

const LOST: MetricPair = { base: null, candidate: null, lost: true }

/**
 * The pairs by which something may be let through, with every pair that was lost as a loss: whoever could end the
 * machine when it falls behind gains nothing by that (decision 039). After a job of which nothing is known they start
 * again, with one loss for each such job.
 */
export function differencesForKeeping(jobs: readonly Job[], metric: string, measure: Measure): Difference[] {
  const gaps = jobs.filter(({ unreported }) => unreported).length
  const since = jobs.slice(jobs.findLastIndex(({ unreported }) => unreported) + 1)
  const pairs = [...Array.from({ length: gaps }, () => LOST), ...metricPairs(since, metric)]
  return pairs.flatMap(pair => (pair.lost ? [null] : differencesOf([pair], measure)))
}

/** Positive is better; a pair without a base is void, a candidate without a value has lost it. */
export function differencesOf(pairs: readonly MetricPair[], measure: Measure): Difference[] {
  return pairs.flatMap(({ base, candidate }): Difference[] => {
    if (base === null) return []
    return [candidate === null ? null : signedDifference(measure, base, candidate)]
  })
}

export function hasLogarithms(pairs: readonly MetricPair[]): boolean {
  return pairs.every(({ base, candidate }) => (base ?? 1) > 0 && (candidate ?? 1) > 0)
}

/** The middle of what the base printed, without its sign: what a share is a share of. */
export function typicalBase(pairs: readonly MetricPair[]): number {
  const values = pairs
    .flatMap(({ base }) => (base === null ? [] : [Math.abs(base)]))
    .toSorted((a, b) => a - b)
  return values[values.length >> 1] ?? 0
}

/** The evidence of all jobs, in the order in which they were run. */
export function observed(start: EvidenceState, jobs: readonly Job[], metric: string): EvidenceState {
  let state = start
  let gaps = 0
  for (const { order: job, runner, also_on, complete, unreported, pairs } of jobs) {
    if (unreported) state = keepSideLost(state, ++gaps)
    for (const { first, base, candidate, lost } of pairs) {
      state = observePair(state, {
        also_on,
        lost,
        base: valueOf(base, metric),
        candidate: valueOf(candidate, metric),
        job,
        runner,
        order: first === 'base' ? 'base-first' : 'candidate-first',
      })
    }
    if (complete && state.jobs.at(-1)?.id === job) state = endJob(state, job)
  }
  return state
}
