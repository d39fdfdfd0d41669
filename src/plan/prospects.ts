import {
  computeChanceToKeep,
  computeExpectedCost,
  type ExpectedCost,
  type JobCost,
  findSmallestVisibleGain,
  isMinEffectVisible,
  listWaysOut,
  type WayOut,
} from '../decide/evidence/planning.ts'
import type { EvidenceOptions } from '../decide/evidence/state.ts'
import { countNeededRuns, toSlowShare } from '../decide/evidence/slow-runs.ts'
import { listObjectives } from '../decide/metrics.ts'
import { findQuieterReading } from '../decide/quieter-metric.ts'
import { type Calibration, createEmptyCampaign, type Noise } from '../model/campaign.ts'
import { EFFECT_JOBS } from '../model/order.ts'
import type { PairJob } from '../model/pairs.ts'
import type { Spec } from '../spec/schema.ts'
import { resolveEvidence, resolvePairsPerJob } from '../spec/spec-facts.ts'
import { buildKeepCheck, computeAlpha, computeAlphaShare } from './paired-order.ts'

/** Forecast of chances and costs for a campaign with a noisy metric. */
export interface Prospects {
  min_effect: number
  null_effect: number
  /** The level of the first idea: under e-lond every keep loosens it. */
  level: number
  pairs_per_job: number
  max_jobs: number
  single_machine: boolean
  chance_to_keep: { min_effects: number; effect: number; chance: number }[]
  /** Kept with a chance of 80 %; null if no gain up to 64 min_effects is. */
  smallest_visible_gain: number | null
  /** The smallest visible gain exceeds min_effect by a tenth at most. */
  sees_min_effect: boolean
  /** Empty where min_effect is visible. */
  ways_out: WayOut[]
  null_idea: ExpectedCost
  /** For a true gain of twice min_effect. */
  good_idea: ExpectedCost
  /** Extra effort of each keep: its reported effect, and the holdout where there is one. */
  each_keep: ExpectedEffort
  /** Extra effort of a good idea before it is kept: to exclude slow runs, and the luck of a job. */
  keep_check: ExpectedEffort
  /** Once, before the campaign stops: its total, by pairs that select nothing. */
  headline: ExpectedEffort
  /** If no idea is worth anything, and if all are good, with all that is measured for the record. */
  campaign: {
    ideas: number
    minutes: [null_ideas: number, good_ideas: number]
    executions: [null_ideas: number, good_ideas: number]
  }
}

export type ExpectedEffort = Pick<ExpectedCost, 'executions' | 'minutes'>

export interface CalibratedNoise {
  scale: 'log' | 'linear'
  noise: Noise
  singleMachine: boolean
  /** Runs of each simulation; fewer are quicker and less precise. */
  runs?: number
}

const PROSPECT_EFFECTS = [0, 0.5, 1, 1.5, 2, 3]
const GOOD_EFFECT = 2
/** Fixed, so that the same noise always gives the same numbers. */
const PROSPECT_SEED = 1
const PROSPECT_RUNS = 400

export function computeProspects(spec: Spec, calibrated: CalibratedNoise): Prospects {
  const { noise, singleMachine, runs = PROSPECT_RUNS } = calibrated
  const options = buildEvidenceOptions(spec, calibrated)
  const input = { noise: { pairSd: noise.pair_sd }, options, seed: PROSPECT_SEED, runs }
  const min = options.minEffect
  const cost = (effect: number) => computeExpectedCost({ ...input, effect, ...buildJobCost(spec, noise) })
  const [null_idea, good_idea] = [cost(0), cost(GOOD_EFFECT * min)]
  const ideas = spec.stopping.max_iterations
  const record = estimateReportingEffort(spec, noise, options.pairsPerJob)
  const keep_check = estimateCheckEffort(spec, calibrated, {
    gain: GOOD_EFFECT * min,
    pairs: good_idea.pairs,
  })
  const keeps = ideas * computeChanceToKeep({ ...input, effect: GOOD_EFFECT * min })
  const whole = (of: keyof ExpectedEffort): [number, number] => [
    ideas * null_idea[of],
    ideas * good_idea[of] + keeps * (keep_check[of] + record.each_keep[of]) + record.headline[of],
  ]
  return {
    min_effect: min,
    null_effect: options.nullEffect,
    level: options.alpha,
    pairs_per_job: options.pairsPerJob,
    max_jobs: options.maxJobs,
    single_machine: singleMachine,
    chance_to_keep: PROSPECT_EFFECTS.map(min_effects => {
      const effect = min_effects * min
      return { min_effects, effect, chance: computeChanceToKeep({ ...input, effect }) }
    }),
    smallest_visible_gain: findSmallestVisibleGain(input),
    sees_min_effect: isMinEffectVisible(input),
    ways_out: listWaysOut(input),
    null_idea,
    good_idea,
    keep_check,
    ...record,
    campaign: { ideas, minutes: whole('minutes'), executions: whole('executions') },
  }
}

export type QuieterMetric = NonNullable<Calibration['quieter']>

/** A tick should not take seconds for a hint. */
const QUIETER_RUNS = 100

/**
 * Compares the noise of all metrics of the same pairs of the base with itself; null if the primary is best.
 * `visibleGain`: what `computeProspects` found for the primary, if that is known.
 */
export function findQuieterMetric(
  spec: Spec,
  jobs: readonly PairJob[],
  { visibleGain, ...calibrated }: CalibratedNoise & { visibleGain?: number | null },
): QuieterMetric | null {
  const { scale, noise, runs = QUIETER_RUNS } = calibrated
  const found = findQuieterReading(spec, jobs, { scale, pair_sd: noise.pair_sd })
  if (found === null) return null
  const options = buildEvidenceOptions(spec, calibrated)
  const findVisibleGain = (pairSd: number) =>
    findSmallestVisibleGain({ noise: { pairSd }, options, seed: PROSPECT_SEED, runs })
  const visible_gain = findVisibleGain(found.pair_sd)
  // Too few jobs hide every gain, whatever the noise.
  if (visible_gain === null) return null
  const primary_visible_gain = visibleGain === undefined ? findVisibleGain(noise.pair_sd) : visibleGain
  return { ...found, visible_gain, primary_visible_gain }
}

/** Of an idea with this gain, after the pairs that show it. */
function estimateCheckEffort(
  spec: Spec,
  { scale, noise }: CalibratedNoise,
  { gain, pairs: measured }: { gain: number; pairs: number },
): ExpectedEffort {
  const { keep_check } = buildKeepCheck(spec, resolvePairsPerJob(spec.evidence, noise.execution_seconds))
  if (keep_check === undefined) return NO_EFFORT
  const { slow_runs, jobs_agree, agree_pairs } = keep_check
  const share = slow_runs === null ? null : Math.max(slow_runs, scale === 'log' ? toSlowShare(gain) : 0)
  const missing = share === null ? 0 : Math.max(0, countNeededRuns(share) - measured)
  const pairs = Math.max(missing, jobs_agree ? AGREEING_JOBS * agree_pairs : 0)
  const jobs = Math.ceil(missing / keep_check.pairs) || AGREEING_JOBS
  const one = estimateJob(buildJobCost(spec, noise), pairs / jobs)
  return { executions: jobs * one.executions, minutes: jobs * one.minutes }
}

/** Jobs after the first gain that usually agree on it. */
const AGREEING_JOBS = 3

/** Jobs without a stopping rule: each is measured to its end. */
function estimateReportingEffort(spec: Spec, noise: Noise, pairs: number) {
  const { holdout } = spec.measurement
  const cost = buildJobCost(spec, noise)
  const effect = estimateJob(cost, pairs)
  // The command of a holdout is no task of a suite.
  const held = holdout === null ? NO_EFFORT : estimateJob({ ...cost, warmUps: 1 }, holdout.pairs)
  return {
    each_keep: {
      executions: effect.executions + held.executions,
      minutes: effect.minutes + held.minutes,
    },
    headline: { executions: EFFECT_JOBS * effect.executions, minutes: EFFECT_JOBS * effect.minutes },
  }
}

const NO_EFFORT: ExpectedEffort = { executions: 0, minutes: 0 }

function estimateJob({ warmUps, secondsPerExecution, setupSeconds }: JobCost, pairs: number): ExpectedEffort {
  const executions = 2 * (pairs + warmUps)
  return { executions, minutes: (executions * secondsPerExecution + setupSeconds) / 60 }
}

/** `overhead_seconds` includes the warm-ups, one execution of each side. A suite has none, and measures whole passes. */
function buildJobCost(
  { measurement }: Spec,
  { execution_seconds: secondsPerExecution, overhead_seconds }: Noise,
): JobCost {
  const wholeJobs = measurement.suite !== null
  const warmUps = wholeJobs ? 0 : 1
  const setupSeconds = Math.max(0, overhead_seconds - 2 * warmUps * secondsPerExecution)
  return { warmUps, wholeJobs, secondsPerExecution, setupSeconds }
}

/** The rule under which the campaign's first idea is judged on its primary metric. */
function buildEvidenceOptions(spec: Spec, { scale, noise, singleMachine }: CalibratedNoise) {
  const evidence = resolveEvidence(spec, { scale, singleMachine, deterministic: false })
  const campaign = createEmptyCampaign()
  const objectives = listObjectives(spec.metric)
  return {
    direction: objectives[0].direction,
    minEffect: evidence.min_effect,
    nullEffect: evidence.null_effect,
    alpha: computeAlpha(campaign, spec.evidence, { share: computeAlphaShare(campaign, spec), variant: 0 }),
    screen: evidence.screen,
    pairsPerJob: resolvePairsPerJob(spec.evidence, noise.execution_seconds),
    maxJobs: evidence.max_jobs,
    freshRunners: evidence.fresh_runners,
    singleMachine,
    m: objectives.filter(({ role }) => role === 'required').length,
  } satisfies EvidenceOptions
}
