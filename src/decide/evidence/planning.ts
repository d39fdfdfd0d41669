import { UserError } from '../../errors.ts'
import { isWorthSecondLook, startSecondLook } from './give-up.ts'
import { observePair } from './observe.ts'
import { getEvidenceStatus } from './rules.ts'
import { type EvidenceOptions, type EvidenceState, startEvidence } from './state.ts'

export type PlanningInput = Omit<ForecastInput, 'effect'>

const VISIBLE_CHANCE = 0.8

/** With effects that vary by a quarter between machines, exactly min_effect is never visible. */
const ALLOWED_EXCESS = 1.1

export type JobCost = {
  /** Executions of each side that do not count, once a job. */
  warmUps: number
  /** A job measures all its pairs, even if the first ones decide. */
  wholeJobs?: boolean
  secondsPerExecution: number
  /** Set-up and build of both sides, once a job. */
  setupSeconds: number
}

export type CostInput = ForecastInput & JobCost

export type ExpectedCost = Pick<Forecast, 'pairs' | 'jobs'> & { executions: number; minutes: number }

export type WayOut =
  /** null: no number of jobs tried makes min_effect visible. */
  | { way: 'more-jobs'; max_jobs: number | null }
  /** A metric on which this idea moves this many times as far; null: none up to 64 times. */
  | { way: 'better-metric'; times: number | null }
  /** Pairs with no more noise than this; null: noise is not what hides it. */
  | { way: 'quieter-machine'; pair_sd: number | null }

/**
 * `effectSpread`: the share by which an effect varies from machine to machine; 1/4 by default, 0 where there
 * is only one machine.
 */
export type PairNoise = { pairSd: number; effectSpread?: number }

export type ForecastInput = {
  noise: PairNoise
  /** The true effect, in the units of min_effect. */
  effect: number
  options: EvidenceOptions
  seed: number
  runs?: number
}

/** Outcomes of experiments with one true effect, as shares, and their average use of pairs and jobs. */
export type Forecast = { keep: number; drop: number; not_proven: number; pairs: number; jobs: number }

export type SeededRandom = () => number

// Forecasts for one idea

/** The chance that an idea with this true effect is kept, by simulating the rule itself. */
export function computeChanceToKeep(input: ForecastInput): number {
  return predictOutcomes(input).keep
}

/** In min_effects: larger gains are not searched for. */
const FARTHEST_GAIN = 64

/** The smallest true gain with an 80 % chance to be kept; null: none up to 64 min_effect. */
export function findSmallestVisibleGain(input: PlanningInput): number | null {
  const visible = (effect: number) => isKeptAtLeast({ ...input, effect }, VISIBLE_CHANCE)
  for (let times = 1; times <= FARTHEST_GAIN; times *= 2) {
    const gain = times * input.options.minEffect
    if (visible(gain)) return findSmallestPassing(gain, visible)
  }
  return null
}

const SEARCH_STEPS = 8

/** The smallest x in (0, high] that passes, to 1/256 of high. Assumes that all above a passing x pass. */
function findSmallestPassing(high: number, passes: (x: number) => boolean): number {
  let [below, above] = [0, high]
  for (let step = 0; step < SEARCH_STEPS; step++) {
    const middle = (below + above) / 2
    if (passes(middle)) above = middle
    else below = middle
  }
  return above
}

/** Average cost of one idea: a job may warm up both sides before its pairs. */
export function computeExpectedCost(input: CostInput): ExpectedCost {
  const { pairs: needed, jobs } = predictOutcomes(input)
  const pairs = input.wholeJobs === true ? jobs * startEvidence(input.options).rule.pairs_per_job : needed
  const executions = 2 * (pairs + jobs * input.warmUps)
  const minutes = (executions * input.secondsPerExecution + jobs * input.setupSeconds) / 60
  return { pairs, jobs, executions, minutes }
}

export function isMinEffectVisible(input: PlanningInput): boolean {
  return isKeptAtLeast({ ...input, effect: ALLOWED_EXCESS * input.options.minEffect }, VISIBLE_CHANCE)
}

/** The three ways out where min_effect is too small to be seen; empty where it is visible. */
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

const MORE_JOBS_TRIED = [12, 16, 24, 32]

function findEnoughJobs(input: PlanningInput): number | null {
  const { options } = input
  const used = startEvidence(options).rule.max_jobs
  const enough = (maxJobs: number) => isMinEffectVisible({ ...input, options: { ...options, maxJobs } })
  const most = MORE_JOBS_TRIED.at(-1) ?? used
  if (most <= used || !enough(most)) return null
  return MORE_JOBS_TRIED.find(jobs => jobs > used && enough(jobs)) ?? null
}

const QUIETER_STEP = Math.SQRT1_2
const MAX_QUIETER_STEPS = 16

/**
 * The loudest noise under which min_effect is visible. Searches from the present noise down: with effects
 * that vary by machine, no noise at all also hides small gains, since every machine is then believed at once.
 */
function findQuietEnough(input: PlanningInput): number | null {
  const { noise } = input
  const visible = (pairSd: number) => isMinEffectVisible({ ...input, noise: { ...noise, pairSd } })
  let louder = noise.pairSd
  for (let times = 1; times <= MAX_QUIETER_STEPS; times++) {
    const pairSd = louder * QUIETER_STEP
    if (visible(pairSd)) return louder - findSmallestPassing(louder - pairSd, less => visible(louder - less))
    louder = pairSd
  }
  return null
}

// Simulation

/** Applies the very rule that judges experiments, second looks included. */
export function predictOutcomes(input: ForecastInput): Forecast {
  const total = { keep: 0, drop: 0, not_proven: 0, pairs: 0, jobs: 0 }
  for (const ended of simulateRuns(input)) {
    const { status } = getEvidenceStatus(ended)
    if (status === 'keep' || status === 'drop' || status === 'not-proven')
      total[status === 'not-proven' ? 'not_proven' : status] += 1
    total.pairs += ended.differences.length
    total.jobs += ended.jobs.length
  }
  const average = (sum: number) => sum / countRuns(input)
  const { keep, drop, not_proven, pairs, jobs } = total
  return {
    keep: average(keep),
    drop: average(drop),
    not_proven: average(not_proven),
    pairs: average(pairs),
    jobs: average(jobs),
  }
}

/** Run i always draws the same numbers, so that forecasts compare without luck. */
function* simulateRuns(input: ForecastInput): Generator<EvidenceState> {
  const { noise, options, seed } = input
  const runs = countRuns(input)
  if (!(noise.pairSd >= 0 && Number.isFinite(noise.pairSd)) || !Number.isFinite(input.effect)) {
    throw new UserError(`cannot forecast an effect of ${input.effect} under a noise of ${noise.pairSd}`)
  }
  if (!Number.isInteger(runs) || runs < 1) throw new UserError(`cannot forecast with ${runs} runs`)
  const start = startEvidence({ ...options, direction: 'maximize', scale: 'linear' })
  for (let run = 0; run < runs; run++)
    yield simulateExperiment(start, input, createSeededRandom(seed + run * 0x10001))
}

const FORECAST_RUNS = 1000

function countRuns({ runs = FORECAST_RUNS }: ForecastInput): number {
  return runs
}

const EFFECT_SPREAD = 0.25

/** 1.4826 times the median size of Student's t with four degrees of freedom. */
const HEAVY_TAILED_SPREAD = 1.0982

function simulateExperiment(
  start: EvidenceState,
  { noise, effect }: ForecastInput,
  random: SeededRandom,
): EvidenceState {
  const { pairSd, effectSpread = start.rule.single_machine ? 0 : EFFECT_SPREAD } = noise
  let state = start
  for (let job = 0; ; job++) {
    if (isWorthSecondLook(state)) state = startSecondLook(state)
    if (getEvidenceStatus(state).status !== 'new-job') return state
    const here = effect * (1 + effectSpread * drawNormal(random))
    state = simulateJob(state, job, () => here + (pairSd / HEAVY_TAILED_SPREAD) * drawHeavyTailed(random))
  }
}

function simulateJob(state: EvidenceState, job: number, draw: () => number): EvidenceState {
  let now = state
  do now = observePair(now, { base: 0, candidate: draw(), job, order: 'base-first' })
  while (getEvidenceStatus(now).status === 'continue')
  return now
}

/** Whether `predictOutcomes` would keep at least this share; stops as soon as that is certain. */
export function isKeptAtLeast(input: ForecastInput, share: number): boolean {
  const runs = countRuns(input)
  let [kept, not] = [0, 0]
  for (const ended of simulateRuns(input)) {
    if (getEvidenceStatus(ended).status === 'keep') kept += 1
    else not += 1
    if (kept / runs >= share) return true
    if ((runs - not) / runs < share) return false
  }
  return kept / runs >= share
}

// Random numbers

const WEYL_STEP = 0x9e3779b9

/** A Weyl sequence through a 32-bit mixer: fast, and far better than planning needs. */
export function createSeededRandom(seed: number): SeededRandom {
  let state = Math.imul(seed, 0x85ebca6b) ^ WEYL_STEP
  return () => {
    state = (state + WEYL_STEP) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}

export function drawNormal(random: SeededRandom): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

/** Student's t with four degrees of freedom: the tails of timings on shared machines. */
export function drawHeavyTailed(random: SeededRandom): number {
  const chiSquared = -2 * Math.log((1 - random()) * (1 - random()))
  return drawNormal(random) / Math.sqrt(chiSquared / 4)
}
