import { type Forecast, predictOutcomes, type ForecastInput, isKeptAtLeast } from './forecast.ts'
import { startEvidence } from './start-evidence.ts'

export type PlanningInput = Omit<ForecastInput, 'effect'>

const VISIBLE_CHANCE = 0.8
/** Effects that vary from machine to machine by a quarter never let all of exactly min_effect be seen. */
const ALLOWED_EXCESS = 1.1
const SEARCH_STEPS = 8
/** Gains beyond this many min_effects are not looked for. */
const FARTHEST_GAIN = 64

/** The chance that an idea with this true effect is kept (decision 3.8), by simulating the rule itself. */
export function computeChanceToKeep(input: ForecastInput): number {
  return predictOutcomes(input).keep
}

/** The smallest x in (0, high] that passes, to 1/256 of high; all above a passing x pass. */
function findSmallestPassing(high: number, passes: (x: number) => boolean): number {
  let [below, above] = [0, high]
  for (let step = 0; step < SEARCH_STEPS; step++) {
    const middle = (below + above) / 2
    if (passes(middle)) above = middle
    else below = middle
  }
  return above
}

/** The smallest true gain with an 80 % chance to be kept (decision 3.8); null: none up to 64 min_effect. */
export function findSmallestVisibleGain(input: PlanningInput): number | null {
  const visible = (effect: number) => isKeptAtLeast({ ...input, effect }, VISIBLE_CHANCE)
  for (let times = 1; times <= FARTHEST_GAIN; times *= 2) {
    const gain = times * input.options.minEffect
    if (visible(gain)) return findSmallestPassing(gain, visible)
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
export function computeExpectedCost(input: CostInput): ExpectedCost {
  const { pairs, jobs } = predictOutcomes(input)
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

const MORE_JOBS_TRIED = [12, 16, 24, 32]

function findEnoughJobs(input: PlanningInput): number | null {
  const { options } = input
  const used = startEvidence(options).rule.max_jobs
  const enough = (maxJobs: number) =>
    isKeptAtLeast(
      { ...input, effect: ALLOWED_EXCESS * options.minEffect, options: { ...options, maxJobs } },
      VISIBLE_CHANCE,
    )
  const most = MORE_JOBS_TRIED.at(-1) ?? used
  if (most <= used || !enough(most)) return null
  return MORE_JOBS_TRIED.find(jobs => jobs > used && enough(jobs)) ?? null
}

const QUIETER_STEP = Math.SQRT1_2
const MAX_QUIETER_STEPS = 16

/**
 * The loudest noise under which min_effect is visible, looked for from the present noise down: with effects that
 * vary by machine no noise at all hides more than a little, since every machine is then believed at once.
 */
function findQuietEnough(input: PlanningInput): number | null {
  const { noise, options } = input
  const visible = (pairSd: number) =>
    isKeptAtLeast(
      { ...input, noise: { ...noise, pairSd }, effect: ALLOWED_EXCESS * options.minEffect },
      VISIBLE_CHANCE,
    )
  let louder = noise.pairSd
  for (let times = 1; times <= MAX_QUIETER_STEPS; times++) {
    const pairSd = louder * QUIETER_STEP
    if (visible(pairSd)) return louder - findSmallestPassing(louder - pairSd, less => visible(louder - less))
    louder = pairSd
  }
  return null
}

/** Whether a gain of min_effect, or a tenth more, has an 80 % chance to be kept. */
export function isMinEffectVisible(input: PlanningInput): boolean {
  return isKeptAtLeast({ ...input, effect: ALLOWED_EXCESS * input.options.minEffect }, VISIBLE_CHANCE)
}

/** The three ways out where min_effect is too small to be seen (decision 3.8); none where it is visible. */
export function listWaysOut(input: PlanningInput): WayOut[] {
  const { minEffect } = input.options
  if (isMinEffectVisible(input)) return []
  const visible = findSmallestVisibleGain(input)
  return [
    { way: 'more-jobs', max_jobs: findEnoughJobs(input) },
    { way: 'better-metric', times: visible === null ? null : visible / minEffect },
    { way: 'quieter-machine', pair_sd: findQuietEnough(input) },
  ]
}
