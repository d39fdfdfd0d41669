import { UserError } from '../../errors.ts'
import { isWorthSecondLook, startSecondLook } from './giving-up.ts'
import { observePair } from './observe-pair.ts'
import { drawHeavyTailed, drawNormal, type SeededRandom, createSeededRandom } from './seeded-random.ts'
import { type EvidenceOptions, startEvidence } from './start-evidence.ts'
import type { EvidenceState } from './state.ts'
import { getEvidenceStatus } from './verdict.ts'

/**
 * The pairs to expect. `effectSpread`: by how much of itself an effect varies from machine to machine, a quarter
 * unless told; nothing where there is only one.
 */
export type PairNoise = { pairSd: number; effectSpread?: number }

export type ForecastInput = {
  noise: PairNoise
  /** The true effect, in the units of minEffect. */
  effect: number
  options: EvidenceOptions
  seed: number
  runs?: number
}

/** How experiments with one true effect end, as shares, and what they use on average. */
export type Forecast = { keep: number; drop: number; park: number; pairs: number; jobs: number }

const FORECAST_RUNS = 1000
const EFFECT_SPREAD = 0.25
/** 1.4826 times the median size of Student's t with four degrees of freedom. */
const HEAVY_TAILED_SPREAD = 1.0982

function simulateJob(state: EvidenceState, job: number, draw: () => number): EvidenceState {
  let now = state
  do now = observePair(now, { base: 0, candidate: draw(), job, order: 'base-first' })
  while (getEvidenceStatus(now).status === 'continue')
  return now
}

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

/** Run i always draws the same numbers, so that forecasts of different effects or noises compare without luck. */
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

function countRuns({ runs = FORECAST_RUNS }: ForecastInput): number {
  return runs
}

/** Experiments simulated under the very rule that judges them, second looks included (decision 3.8). */
export function predictOutcomes(input: ForecastInput): Forecast {
  const total = { keep: 0, drop: 0, park: 0, pairs: 0, jobs: 0 }
  for (const ended of simulateRuns(input)) {
    const { status } = getEvidenceStatus(ended)
    if (status === 'keep' || status === 'drop' || status === 'park') total[status] += 1
    total.pairs += ended.differences.length
    total.jobs += ended.jobs.length
  }
  const runs = countRuns(input)
  const { keep, drop, park, pairs, jobs } = total
  return { keep: keep / runs, drop: drop / runs, park: park / runs, pairs: pairs / runs, jobs: jobs / runs }
}

/** Whether `forecast` would keep at least this share, found out with no more runs than that takes. */
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
