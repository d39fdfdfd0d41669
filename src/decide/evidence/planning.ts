import { type Forecast, forecast, type ForecastInput } from './forecast.ts'
import { startEvidence } from './start-evidence.ts'

export type PlanningInput = Omit<ForecastInput, 'effect'>

const VISIBLE = 0.8
const STEPS = 10
/** Gains beyond this many min_effects are not looked for. */
const FARTHEST = 64

/** The chance that an idea with this true effect is kept (decision 3.8), by simulating the rule itself. */
export function chanceToKeep(input: ForecastInput): number {
  return forecast(input).keep
}

/** The smallest x in (0, high] that passes, to about 1/1000 of high; all above a passing x pass. */
function smallestPassing(high: number, passes: (x: number) => boolean): number {
  let [below, above] = [0, high]
  for (let step = 0; step < STEPS; step++) {
    const middle = (below + above) / 2
    if (passes(middle)) above = middle
    else below = middle
  }
  return above
}

/** The smallest true gain with an 80 % chance to be kept (decision 3.8); null: none up to 64 min_effect. */
export function smallestVisibleGain(input: PlanningInput): number | null {
  const visible = (effect: number) => chanceToKeep({ ...input, effect }) >= VISIBLE
  for (let times = 1; times <= FARTHEST; times *= 2) {
    const gain = times * input.options.minEffect
    if (visible(gain)) return smallestPassing(gain, visible)
  }
  return null
}

export type CostInput = ForecastInput & {
  secondsPerExecution: number
  /** Set-up and build of both sides, once a job. */
  setupSeconds: number
}

export type ExpectedCost = Pick<Forecast, 'pairs' | 'jobs'> & { executions: number; minutes: number }

/** What one idea costs on average (decision 3.8): each job warms up both sides before its pairs. */
export function expectedCost(input: CostInput): ExpectedCost {
  const { pairs, jobs } = forecast(input)
  const executions = 2 * (pairs + jobs)
  const minutes = (executions * input.secondsPerExecution + jobs * input.setupSeconds) / 60
  return { pairs, jobs, executions, minutes }
}

export type WayOut =
  /** null: no number of jobs tried makes min_effect visible. */
  | { way: 'more-jobs'; max_jobs: number | null }
  /** A metric on which the same idea moves this many times as far; null: none up to 64 times. */
  | { way: 'better-metric'; times: number | null }
  /** Pairs with no more noise than this; null: noise is not what hides it. */
  | { way: 'quieter-machine'; pair_sd: number | null }

const MORE_JOBS = [12, 16, 24, 32]

function enoughJobs(input: PlanningInput): number | null {
  const { options } = input
  const used = startEvidence(options).rule.max_jobs
  const enough = (maxJobs: number) =>
    chanceToKeep({ ...input, effect: options.minEffect, options: { ...options, maxJobs } }) >= VISIBLE
  return MORE_JOBS.find(jobs => jobs > used && enough(jobs)) ?? null
}

/** Bisection over how much quieter: the loudest noise under which min_effect is visible. */
function quietEnough(input: PlanningInput): number | null {
  const { noise, options } = input
  const visible = (pairSd: number) =>
    chanceToKeep({ ...input, noise: { ...noise, pairSd }, effect: options.minEffect }) >= VISIBLE
  if (!visible(0)) return null
  return noise.pairSd - smallestPassing(noise.pairSd, less => visible(noise.pairSd - less))
}

/** The three ways out where min_effect is too small to be seen (decision 3.8); none where it is visible. */
export function waysOut(input: PlanningInput): WayOut[] {
  const { minEffect } = input.options
  if (chanceToKeep({ ...input, effect: minEffect }) >= VISIBLE) return []
  const visible = smallestVisibleGain(input)
  return [
    { way: 'more-jobs', max_jobs: enoughJobs(input) },
    { way: 'better-metric', times: visible === null ? null : visible / minEffect },
    { way: 'quieter-machine', pair_sd: quietEnough(input) },
  ]
}
