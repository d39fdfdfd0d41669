import type { Noise } from '../model/campaign.ts'
import { type Order, toPairRequest } from '../model/order.ts'
import { buildPairJob, type PairJob, toMeasuredRun } from '../model/pairs.ts'
import type { Execution, Report } from '../model/report.ts'
import { COUNTED_METRICS, TIMED_METRICS } from '../spec/schema-values.ts'
import type { Spec } from '../spec/schema.ts'
import { calibrateNoiseEvidence, type CalibrationJob } from './evidence/calibration.ts'
import { describeUnsteadyHarness, findFailure } from './failures.ts'
import { listDecisiveMetrics, listExecutions, readNumber } from './metrics.ts'
import { collectMetricPairs } from './paired/evaluate.ts'
import { listStandIns } from './quieter-metric.ts'
import { formatCount, formatNoise, formatNumber, formatTolerance } from './wording.ts'

export type CalibrationResult = {
  deterministic: boolean
  scale: 'log' | 'linear'
  failed: boolean
  reason: string
  values: Record<string, number[]>
  /** Counts differ a little between runs: smaller differences than this share count as none. */
  tolerance?: number
}

/** Noise from pairs of the base with itself, or the reason why no campaign can rest on it. */
export type NoiseResult =
  | { scale: 'log' | 'linear'; noise: Noise; reason: string }
  | { refused: string }
  /** The base was told apart from itself, maybe by chance: a second calibration decides. */
  | { suspected: string }

/** Jobs of a calibration. A suspicion is checked by as many again, with their own coins. */
export const CALIBRATION_JOBS = 2

/** Step 0 of a campaign: tests whether the same tree gives the same numbers for any seed and build. */
export function calibrateHarness(spec: Spec, report: Report): CalibrationResult {
  const runs = listExecutions(report, 'base', 'sample', 'repeat')
  const values = Object.fromEntries(
    listDecisiveMetrics(spec).map(name => [name, runs.flatMap(run => readNumber(run, name) ?? [])]),
  )
  const scale = selectPrimaryScale(spec, values[spec.metric.primary.name] ?? [])
  const failure = describeCalibrationFailure(spec, report, values, runs.length)
  if (failure !== null) return { deterministic: false, scale, failed: true, reason: failure, values }
  const unproven = explainUnproven(values, runs)
  const tolerance = unproven === null ? findTolerance(values) : null
  const reason = unproven ?? explainVariation(values)
  if (reason !== null && tolerance === null)
    return { deterministic: false, scale, failed: false, reason, values }
  const took = `in ${formatCount(runs.length, 'run')} with different seeds and builds`
  if (tolerance !== null) {
    const near = `nearly: counts differ by less than ${formatTolerance(tolerance)}, which counts as no difference, ${took}`
    return { deterministic: true, scale, failed: false, reason: near, values, tolerance }
  }
  const same = `equal ${took}`
  return { deterministic: true, scale, failed: false, reason: same, values }
}

function selectPrimaryScale(spec: Spec, primary: readonly number[]): 'log' | 'linear' {
  if (spec.evidence.scale !== 'auto') return spec.evidence.scale
  return primary.length > 0 && primary.every(value => value > 0) ? 'log' : 'linear'
}

function describeCalibrationFailure(
  spec: Spec,
  report: Report,
  values: CalibrationResult['values'],
  runs: number,
): string | null {
  const unsteady = describeUnsteadyHarness(report, { most: 1 })
  if (unsteady !== null) return unsteady
  const failure = findFailure({ spec, report, label: 'base' })
  if (failure !== null) return `the base fails: ${failure.reason}`
  if (runs === 0) return 'the report has no run of the base'
  const missing = Object.keys(values).filter(name => values[name]?.length !== runs)
  if (missing.length > 0) return `missing metric: ${missing.join(', ')}`
  return explainIncomparable(spec, values[spec.metric.primary.name] ?? [])
}

/** A few of millions of instructions. More is noise, which pairs have to decide. */
const NEAR = 0.001
/** Six runs rarely show the whole spread, so three times the spread that they show is allowed. */
const SPREADS_ALLOWED = 3
const LEAST_TOLERANCE = 1e-6

/** The share by which counts may differ; null where a metric varies more, or is no count. */
function findTolerance(values: CalibrationResult['values']): number | null {
  const varying = Object.entries(values).filter(([, each]) => new Set(each).size > 1)
  const spreads = varying.map(([name, each]) => {
    const least = Math.min(...each)
    const share = (Math.max(...each) - least) / least
    return COUNTED_METRICS.has(name) && each.length >= 6 && least > 0 ? share : Number.POSITIVE_INFINITY
  })
  const most = Math.max(0, ...spreads)
  if (varying.length === 0 || most > NEAR) return null
  return Math.max(LEAST_TOLERANCE, SPREADS_ALLOWED * most)
}

/** Why these runs cannot show that a working harness is deterministic; null if they can. */
function explainUnproven(values: CalibrationResult['values'], runs: readonly Execution[]): string | null {
  const timed = Object.keys(values).find(name => TIMED_METRICS.has(name))
  if (timed !== undefined) return `${timed} is never deterministic`
  const seeds = new Set(runs.map(run => run.seed)).size
  const builds = new Set(runs.map(run => run.build)).size
  return seeds < 2 || builds < 2 ? 'not proven for two seeds and two builds' : null
}

function explainVariation(values: CalibrationResult['values']): string | null {
  const unsteady = Object.keys(values).find(name => new Set(values[name]).size > 1)
  if (unsteady === undefined) return null
  const seen = values[unsteady] ?? []
  return `${unsteady} varies from ${formatNumber(Math.min(...seen))} to ${formatNumber(Math.max(...seen))}`
}

/** The pairs of one calibration job, with the metrics that could replace the primary (decide/quieter-metric.ts). */
export function buildNoiseJob(
  spec: Spec,
  order: Pick<Order, 'id' | 'stop' | 'resumes'>,
  report: Report,
): PairJob {
  const request = toPairRequest(order)
  const metrics = [...request.metrics, ...listStandIns(spec, report)]
  return buildPairJob({ ...request, metrics }, toMeasuredRun(report), 'base-copy')
}

/** Step 0 of a campaign with a noisy metric. */
export function calibrateNoise(spec: Spec, last: Report, jobs: readonly PairJob[]): NoiseResult {
  const { name } = spec.metric.primary
  const raw = jobs.map(job => ({
    pairs: collectMetricPairs([job], name).flatMap(({ base, candidate, base_first }) =>
      base === null || candidate === null ? [] : [{ base, candidate, base_first }],
    ),
  }))
  if (raw.every(({ pairs }) => pairs.length === 0))
    return { refused: `no pair of the base has ${name} on both sides` }
  const values = raw.flatMap(({ pairs }) => pairs.flatMap(({ base, candidate }) => [base, candidate]))
  const refused = explainIncomparable(spec, values)
  if (refused !== null) return { refused }
  const options = spec.evidence.scale === 'auto' ? {} : { scale: spec.evidence.scale }
  const { scale, pair_sd, pair_sd_upper90, between_job_sd, pairs } = calibrateNoiseEvidence(raw, options)
  const first = findFavouredSide(raw.slice(0, CALIBRATION_JOBS), scale)
  if (first !== null) {
    const second = raw.slice(CALIBRATION_JOBS)
    if (second.length < CALIBRATION_JOBS)
      return { suspected: `${name} may differ between identical copies of the base` }
    // Chance favours no side: only a bias favours the same one again. Jobs without a pair clear nothing
    // (invariant 5).
    const again = findFavouredSide(second, scale)
    if (again === first || again === 'unknown' || (first === 'unknown' && again !== null))
      return { refused: describeUnfairHarness(name, pairs) }
  }
  const gap = explainEffectGap(spec, scale)
  if (gap !== null) return { refused: gap }
  const spread = { pair_sd, pair_sd_upper90, between_job_sd, pairs }
  const noise = { ...spread, jobs: jobs.length, ...computeJobSeconds(last) }
  return { scale, noise, reason: formatNoise({ scale, noise }) }
}

function findFavouredSide(jobs: readonly CalibrationJob[], scale: 'log' | 'linear'): string | null {
  return jobs.some(({ pairs }) => pairs.length > 0)
    ? calibrateNoiseEvidence(jobs, { scale }).favours
    : 'unknown'
}

/** Identical code was told apart, so the harness also measures which side it runs. */
function describeUnfairHarness(name: string, pairs: number): string {
  return `the harness is not fair: ${name} tells two identical copies of the base apart (evidence of 20 in two independent calibrations, ${formatCount(pairs, 'pair')} in all). A result depends on which copy runs: look for caches, ports, temporary files or names that one side finds and the other does not`
}

function explainEffectGap({ evidence, metric }: Spec, scale: 'log' | 'linear'): string | null {
  const { min_effect } = evidence
  if (min_effect === 0)
    return 'evidence.min_effect is 0, which a noisy metric can never prove: set it to the smallest gain worth having'
  if (min_effect !== null || scale === 'log') return null
  return `evidence.min_effect is not set, and ${metric.primary.name} is compared on a linear scale, where 2 % has no meaning: set it to the smallest change worth having, in its own units, with evidence.scale: linear`
}

/**
 * Estimates from one pass of the base how much a pair (task, seed) of a suite will differ: two runs of one task differ
 * as the two sides of a pair do, or more, because these share a seed. Null where no task ran twice.
 */
export function estimateSuiteNoise(
  spec: Spec,
  report: Report,
): { scale: 'log' | 'linear'; noise: Noise } | null {
  const runs = listExecutions(report, 'base', 'sample').flatMap(run => {
    const score = readNumber(run, spec.metric.primary.name)
    return score === null ? [] : [{ task: run.task, score }]
  })
  const scores = runs.map(({ score }) => score)
  const scale = selectPrimaryScale(spec, scores)
  if (explainIncomparable(spec, scores) !== null || explainEffectGap(spec, scale) !== null) return null
  const tasks = [...new Set(runs.map(({ task }) => task))]
  if (runs.length === tasks.length) return null
  const squares = tasks.flatMap(name => {
    const own = runs.flatMap(({ task, score }) => (task === name ? [score] : []))
    const values = scale === 'log' ? own.map(Math.log) : own
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    return values.map(value => (value - mean) ** 2)
  })
  const variance = squares.reduce((sum, square) => sum + square, 0) / (runs.length - tasks.length)
  const pair_sd = Math.sqrt(2 * variance)
  const spread = { pair_sd, pair_sd_upper90: null, between_job_sd: null, pairs: runs.length, jobs: 1 }
  return { scale, noise: { ...spread, ...computeJobSeconds(report) } }
}

/** Seconds of one execution of the base, and the other seconds of a job with two sides. */
function computeJobSeconds(report: Report): Pick<Noise, 'execution_seconds' | 'overhead_seconds'> {
  const sum = (runs: readonly Execution[]) => runs.reduce((total, run) => total + run.wall_seconds, 0)
  const counted = ['base', 'base-copy'].flatMap(side => listExecutions(report, side, 'sample'))
  const samples = report.executions.filter(({ role }) => role === 'sample')
  const whole = (Date.parse(report.finished_at) - Date.parse(report.started_at)) / 1000
  const seconds = counted.length === 0 ? 0 : sum(counted) / counted.length
  const sides = Math.max(2, new Set(samples.map(({ side }) => side)).size)
  return {
    execution_seconds: seconds,
    overhead_seconds: Math.max(0, ((whole - sum(samples)) * 2) / sides),
  }
}

export function explainIncomparable(
  { evidence, metric }: Pick<Spec, 'evidence' | 'metric'>,
  values: readonly number[],
): string | null {
  if (evidence.scale !== 'log' || values.every(value => value > 0)) return null
  return `evidence.scale is log, but ${metric.primary.name} is not always above 0; set evidence.scale: linear`
}
