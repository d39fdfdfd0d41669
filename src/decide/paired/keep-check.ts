import type { KeepCheck } from '../../model/order.ts'
import {
  computeFirstRunCost,
  findSpeedBorder,
  type MeasuredPairs,
  removeFirstRunCost,
} from '../evidence/disturbances.ts'
import { isGainShownByJobs } from '../evidence/job-luck.ts'
import { computeSignedDifference, type MetricMeasure, toComparable } from '../evidence/rank-test.ts'
import { type JobPairs, judgeSlowRuns } from '../evidence/slow-runs.ts'

type CheckedPair = {
  base: number | null
  candidate: number | null
  lost?: true | undefined
  base_first?: boolean | undefined
}

/** One job's pairs of the primary metric. */
export interface CheckedJob {
  pairs: readonly CheckedPair[]
  unreported: boolean
}

export interface KeepCheckInput {
  check: KeepCheck
  measure: MetricMeasure
  minEffect: number
  nullEffect: number
  jobs: readonly CheckedJob[]
  /** Index of the job that screened; -1: none had to. */
  screenedIn: number
  /** Index of the job in which the gain was shown. */
  gainedIn: number
}

/** The answers once the pairs have shown a gain (docs/decisions/064-the-mean-and-the-luck-of-a-job.md). */
export interface KeepCheckResult {
  /**
   * passed: it may be kept. slower: some of its runs are much slower. unshown: too few runs to exclude that. luck: its
   * jobs do not agree on a gain. measure, new-job: open, in this job or the next.
   */
  is: 'passed' | 'slower' | 'unshown' | 'luck' | 'measure' | 'new-job'
  /** Runs of each side so far, and those that slow runs need to show; null: slow runs do not count. */
  runs: { done: number; needed: number } | null
}

/** Pure, so that the runner of a job, the verdict and a replay agree. Looks at whole jobs only. */
export function judgeKeepCheck(input: KeepCheckInput): KeepCheckResult {
  const { check, jobs, gainedIn } = input
  const ended = jobs.length - 1
  const isChecking = ended > gainedIn
  if (isChecking) {
    const target = countPairsOfNextJob({ ...input, jobs: jobs.slice(0, ended) })
    if ((jobs[ended]?.pairs.length ?? 0) < target) return { is: 'measure', runs: countRuns(input) }
  }
  const slow = judgeSlow(input)
  const runs = countRuns(input)
  if (slow?.is === 'slower') return { is: 'slower', runs }
  const agree = isAgreed(input)
  if (slow?.is !== 'open' && agree) return { is: 'passed', runs }
  if (ended - gainedIn < check.jobs) return { is: 'new-job', runs }
  return { is: agree ? 'unshown' : 'luck', runs }
}

/** The pairs that are still needed, in equal jobs. The jobs before it decide, and not its own pairs. */
export function countPairsOfNextJob(input: KeepCheckInput): number {
  const { check } = input
  const slow = judgeSlow(input)
  const missing = slow?.is === 'open' ? Math.max(1, slow.needed - countWholePairs(input.jobs)) : 0
  const shared = Math.ceil(missing / Math.ceil(Math.max(1, missing) / check.pairs))
  return isAgreed(input) ? Math.max(1, shared) : Math.max(check.agree_pairs, shared)
}

function judgeSlow({ check, jobs, measure }: KeepCheckInput): ReturnType<typeof judgeSlowRuns> | null {
  if (check.slow_runs === null) return null
  const lost = jobs.flatMap(({ pairs, unreported }) => [
    ...pairs.filter(pair => pair.lost === true),
    ...(unreported ? ['a begun pair'] : []),
  ]).length
  return judgeSlowRuns({ jobs: jobs.map(listWholePairs), measure, lost, share: check.slow_runs })
}

function isAgreed({ check, jobs, measure, minEffect, nullEffect, screenedIn }: KeepCheckInput): boolean {
  if (!check.jobs_agree) return true
  const fresh = jobs.slice(screenedIn + 1).map(job => listTurns(job, measure))
  const cost = computeFirstRunCost(joinTurns(jobs.map(job => listTurns(job, measure))))
  const whole = fresh.map(({ measured, base_first }) =>
    measured.map((each, index) => removeFirstRunCost(each, base_first[index] === true, cost)),
  )
  const border = findSpeedBorder(whole.flat())
  const sameSpeed = whole.map(job => job.filter(each => Math.abs(toComparable(each)) <= border))
  return [whole, sameSpeed].some(each => isGainShownByJobs({ jobs: each, minEffect, nullEffect }))
}

function listTurns({ pairs }: Pick<CheckedJob, 'pairs'>, measure: MetricMeasure): MeasuredPairs {
  const whole = pairs.flatMap(({ base, candidate, base_first }) =>
    base === null || candidate === null ? [] : [{ base, candidate, base_first: base_first === true }],
  )
  return {
    measured: whole.map(({ base, candidate }) => computeSignedDifference(measure, base, candidate)),
    base_first: whole.map(({ base_first }) => base_first),
  }
}

function joinTurns(jobs: readonly MeasuredPairs[]): MeasuredPairs {
  return {
    measured: jobs.flatMap(({ measured }) => measured),
    base_first: jobs.flatMap(({ base_first }) => base_first),
  }
}

function countRuns(input: KeepCheckInput): KeepCheckResult['runs'] {
  const slow = judgeSlow(input)
  return slow === null ? null : { done: countWholePairs(input.jobs), needed: slow.needed }
}

function countWholePairs(jobs: KeepCheckInput['jobs']): number {
  return jobs.reduce((sum, job) => sum + listWholePairs(job).length, 0)
}

export function listWholePairs({ pairs }: Pick<CheckedJob, 'pairs'>): JobPairs {
  return pairs.flatMap(({ base, candidate }) =>
    base === null || candidate === null ? [] : [{ base, candidate }],
  )
}
