import { estimateHodgesLehmann } from './interval.ts'
import type { Difference } from './rank-test.ts'

/**
 * A build, its user, its slot or its machine may favour one side for a whole job. Pairs of that job agree with each
 * other however wrong they are, so here every job is one observation (docs/decisions/064).
 */
export type JobAgreementInput = {
  /** Differences of each job since the one that screened. */
  jobs: readonly (readonly Difference[])[]
  minEffect: number
  nullEffect: number
}

/** Jobs that count as known before the first one: luck of `min_effect` is always possible. */
const PRIOR_JOBS = 2

/** Fewer pairs estimate the effect of their job badly. */
const FEWEST_PAIRS = 5
const WHOLE_JOB_PAIRS = 8

/** 97.5 % quantiles of Student's t, from one degree of freedom. */
const STUDENT_97_5 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12,
]
const NORMAL_97_5 = 1.96

/** Whether the jobs show the gain by themselves, given how much they differ from each other. */
export function isGainShownByJobs({ jobs, minEffect, nullEffect }: JobAgreementInput): boolean {
  const observed = selectObservations(jobs)
  const weight = observed.reduce((sum, each) => sum + each.weight, 0)
  if (weight === 0) return false
  const mean = observed.reduce((sum, each) => sum + each.weight * each.effect, 0) / weight
  const squares = observed.reduce((sum, each) => sum + each.weight * (each.effect - mean) ** 2, 0)
  const freedom = PRIOR_JOBS + weight - 1
  const variance = (PRIOR_JOBS * minEffect ** 2 + squares) / freedom
  const quantile = STUDENT_97_5[Math.max(1, Math.floor(freedom)) - 1] ?? NORMAL_97_5
  return mean - nullEffect >= quantile * Math.sqrt(variance / weight)
}

/** Short jobs count in part, and only while there is no other. */
function selectObservations(jobs: readonly (readonly Difference[])[]): { effect: number; weight: number }[] {
  const measured = jobs.filter(job => job.length > 0)
  const long = measured.filter(job => job.length >= FEWEST_PAIRS)
  if (long.length > 0) return long.map(job => ({ effect: estimateHodgesLehmann(job), weight: 1 }))
  return measured.map(job => ({ effect: estimateHodgesLehmann(job), weight: job.length / WHOLE_JOB_PAIRS }))
}
