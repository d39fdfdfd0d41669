import { type Forecast, forecast, type ForecastInput, keepsAtLeast } from './forecast.ts'
import { startEvidence } from './start-evidence.ts'

export type PlanningInput = Omit<ForecastInput, 'effect'>

const VISIBLE = 0.8
/** Effects that vary from machine to machine by a quarter never let all of exactly min_effect be seen. */
const ALLOWED = 1.1
const STEPS = 8
/** Gains beyond this many min_effects are not looked for. */
const FARTHEST = 64

/** The chance that an idea with this true effect is kept (decision 3.8), by simulating the rule itself. */
export function chanceToKeep(input: ForecastInput): number {
  return forecast(input).keep
}

/** The smallest x in (0, high] that passes, to 1/256 of high; all above a passing x pass. */
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
  const visible = (effect: number) => keepsAtLeast({ ...input, effect }, VISIBLE)
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
    keepsAtLeast({ ...input, effect: ALLOWED * options.minEffect, options: { ...options, maxJobs } }, VISIBLE)
  const most = MORE_JOBS.at(-1) ?? used
  if (most <= used || !enough(most)) return null
  return MORE_JOBS.find(jobs => jobs > used && enough(jobs)) ?? null
}

const QUIETER = Math.SQRT1_2
const TIMES_QUIETER = 16

/**
 * The loudest noise under which min_effect is visible, looked for from the present noise down: with effects that
 * vary by machine no noise at all hides more than a little, since every machine is then believed at once.
 */
function quietEnough(input: PlanningInput): number | null {
  const { noise, options } = input
  const visible = (pairSd: number) =>
    keepsAtLeast({ ...input, noise: { ...noise, pairSd }, effect: ALLOWED * options.minEffect }, VISIBLE)
  let louder = noise.pairSd
  for (let times = 1; times <= TIMES_QUIETER; times++) {
    const pairSd = louder * QUIETER
    if (visible(pairSd)) return louder - smallestPassing(louder - pairSd, less => visible(louder - less))
    louder = pairSd
  }
  return null
}

/** Whether a gain of min_effect, or a tenth more, has an 80 % chance to be kept. */
export function seesMinEffect(input: PlanningInput): boolean {
  return keepsAtLeast({ ...input, effect: ALLOWED * input.options.minEffect }, VISIBLE)
}

/** The three ways out where min_effect is too small to be seen (decision 3.8); none where it is visible. */
export function waysOut(input: PlanningInput): WayOut[] {
  const { minEffect } = input.options
  if (seesMinEffect(input)) return []
  const visible = smallestVisibleGain(input)
  return [
    { way: 'more-jobs', max_jobs: enoughJobs(input) },
    { way: 'better-metric', times: visible === null ? null : visible / minEffect },
    { way: 'quieter-machine', pair_sd: quietEnough(input) },
  ]
}
