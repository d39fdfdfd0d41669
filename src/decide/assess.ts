import type { Order } from '../model/order.ts'
import { describeUnisolated } from '../model/reach.ts'
import { listTaskRuns, type Report, type Side, type Snapshot } from '../model/report.ts'
import { compareTasks, computeTaskGain, sortByTaskGain, type TaskChange } from '../model/tasks.ts'
import { NOT_NOISE_PROOF } from '../spec/notes.ts'
import type { Spec } from '../spec/schema.ts'
import { type Assessment, type AssessmentFinding, createFinding, createRetryFinding } from './assessment.ts'
import {
  assessByStability,
  findStabilityBaseline,
  readPrimaryPair,
  type StabilityBaseline,
} from './ce/assess.ts'
import type { StabilitySpec } from './ce/stability.ts'
import { findFailure } from './failures.ts'
import {
  buildSnapshot,
  listExecutions,
  listObjectives,
  lookUpMetric,
  type MaxRegression,
  readNumber,
} from './metrics.ts'
import { assessOnce, readOnceRule } from './once.ts'
import { assessPaired, assessPairs } from './paired/assess.ts'
import { isTargetReached } from './stop-rules.ts'
import { listTieBreakers } from './tie-breakers.ts'
import { formatCount, formatMetricChange, formatNumber } from './wording.ts'

/** The verdict on one candidate of one order: a pure function of the order and its report (invariant 3). */
export type AssessInput = {
  spec: Spec
  order: Pick<Order, 'id' | 'stop' | 'earlier_jobs'>
  report: Report
  label: Side
  /** The incumbent's stored snapshot, for an order that neither carries nor measures one. */
  baseline: Snapshot | null
}

export function assessCandidate(input: AssessInput): Assessment {
  const { order, report, spec } = input
  const baseline = order.stop.rule === 'stability' ? findStabilityBaseline(input, order.stop.baseline) : null
  return { ...limitTaskLosses(input, assessByRule(input)), warnings: listWarnings(spec, report, baseline) }
}

/** Runs that are compared as numbers: no task may lose more than metric.max_task_regression. */
function limitTaskLosses(
  { spec, order, report, label }: AssessInput,
  found: AssessmentFinding,
): AssessmentFinding {
  const { max_task_regression: bound, primary } = spec.metric
  const { rule } = order.stop
  if (bound === undefined || found.outcome !== 'eligible' || (rule !== 'once' && rule !== 'stability'))
    return found
  const changes = compareTasks(listTaskRuns(report, 'base'), listTaskRuns(report, label), primary.direction)
  const [worst, ...others] = sortByTaskGain(changes).filter(change => isTaskLossExceeded(change, bound))
  if (worst === undefined) return found
  const more = others.length === 0 ? '' : ` and ${formatCount(others.length, 'other task')}`
  const allowed =
    bound.type === 'relative' ? `${formatNumber(bound.value * 100)} %` : formatNumber(bound.value)
  const after = worst.candidate === null ? 'missing' : formatNumber(worst.candidate)
  const reason = `task ${worst.task} ${formatNumber(worst.base ?? Number.NaN)} -> ${after}${more}: worse by more than max_task_regression allows (${allowed}); ${found.reason}`
  return {
    ...found,
    outcome: 'dropped',
    worse: true,
    reason,
    target_reached: false,
    violated_objectives: [worst, ...others].map(({ task }) => `task ${task}`),
    failure_class: 'hypothesis',
  }
}

function isTaskLossExceeded(change: TaskChange, { type, value }: MaxRegression): boolean {
  const gain = computeTaskGain(change)
  if (gain === null) return false
  const bound = type === 'relative' ? value * Math.abs(change.base ?? 0) : value
  return gain < -bound - ROUNDING
}

const ROUNDING = 1e-12

function assessByRule(input: AssessInput): AssessmentFinding {
  const { spec, order, report, label } = input
  if (order.stop.rule === 'paired') return assessPaired(input, order.stop)
  if (order.stop.rule === 'pairs') return assessPairs(input, order.stop)
  const failure = findFailure({ spec, report, label })
  if (failure !== null) return failure
  switch (order.stop.rule) {
    case 'once':
      return assessOnce({ spec, ...readOnceRule(order.stop) }, report, label)
    case 'stability':
      return assessByStability(input, order.stop.baseline)
    case 'alone':
      return assessSingleRun(input)
    case 'holdout':
      return createRetryFinding('a holdout order has no verdict about a gain')
    case 'calibrate':
      throw new TypeError('a calibration has no candidate to assess: use calibrate()')
    default:
      return order.stop satisfies never
  }
}

/** Checks gates and one run only. Judged objectives are skipped: no judge scored this order. */
function assessSingleRun({ spec, report, label }: AssessInput): AssessmentFinding {
  const sample = listExecutions(report, label, 'sample')[0]
  if (sample === undefined) return createRetryFinding(`the report has no sample of ${label}`)
  const objectives = listObjectives(spec.metric).filter(({ judged }) => !judged)
  const values = new Map(objectives.map(({ name }) => [name, readNumber(sample, name)]))
  const missing = [...values.keys()].filter(name => values.get(name) === null)
  if (missing.length > 0) {
    const reason = `missing required metric: ${missing.join(', ')}`
    return createFinding('error', reason, { failure_class: 'eval' })
  }
  return createFinding('eligible', 'every gate holds', {
    target_reached: isTargetReached(objectives, ({ name }) => values.get(name) ?? undefined),
  })
}

const UNREAPED =
  'processes may still run: winnow could not prove that every process of an execution has ended'

/** `baseline` is null unless ce's rules compared with one. */
function listWarnings(spec: Spec, report: Report, baseline: StabilityBaseline | null): string[] {
  const unisolated = describeUnisolated(report)
  const flags = [
    ...(unisolated === null ? [] : [unisolated]),
    ...(report.flags.includes('unreaped') ? [UNREAPED] : []),
  ]
  if (baseline === null) return flags
  const compared = baseline.stored
    ? NOT_NOISE_PROOF
    : 'compared with one base run in the same job; not noise-proof'
  return [compared, ...findNoisyBaseline(spec, baseline.snapshot), ...flags]
}

/** A baseline whose repeats vary by more than what counts as a gain cannot tell such gains apart. */
function findNoisyBaseline(spec: Spec, snapshot: Snapshot): string[] {
  const { stability } = spec.measurement
  // Tasks of a suite differ by nature.
  if (stability === null || spec.measurement.suite !== null) return []
  const compared = [
    ...listObjectives(spec.metric).map(({ name, judged }) => ({ name, judged, isTie: false })),
    ...listTieBreakers(spec.policy).map(({ name }) => ({ name, judged: false, isTie: true })),
  ]
  return compared.flatMap(({ name, judged, isTie }) => {
    const reading = lookUpMetric(snapshot, name, { judged, aggregation: stability.aggregation })
    if (reading === null || reading.samples.length === 0) return []
    const differs = Math.max(...reading.samples) - Math.min(...reading.samples)
    const least = computeLeastGain(spec, stability, { judged, isTie, base: reading.value })
    if (differs <= least) return []
    const limit = `the ${formatNumber(least)} that count as a gain`
    const advice = '; a larger measurement.stability.repeat_count would tell more'
    return [
      `the baseline's repeats of ${name} differ by ${formatNumber(differs)}, more than ${limit}${advice}`,
    ]
  })
}

/** In metric units. */
function computeLeastGain(
  { metric }: Spec,
  stability: StabilitySpec,
  by: { judged: boolean; isTie: boolean; base: number },
): number {
  const { method, relative_threshold } = stability.comparison
  if (method !== 'absolute' || by.isTie) return relative_threshold * Math.abs(by.base)
  return by.judged ? (metric.judge?.minimum_improvement ?? 0) : stability.noise_threshold
}

export function describePrimaryChange(input: AssessInput): string | null {
  const values = readPrimaryValues(input)
  return values && formatMetricChange(input.spec.metric.primary.name, values.base, values.candidate)
}

/**
 * How many times better the candidate is: 2 is half the time, or twice the score, Infinity a time of 0 or a score of
 * more than 0 after 0. Null if that cannot be said.
 */
export function computePrimaryGain(input: AssessInput): number | null {
  const values = readPrimaryValues(input)
  if (values === null) return null
  const { base, candidate } = values
  const gain = input.spec.metric.primary.direction === 'maximize' ? candidate / base : base / candidate
  return gain > 0 ? gain : null
}

/** Null where the report and the order do not have the primary metric on both sides. */
function readPrimaryValues(input: AssessInput): { base: number; candidate: number } | null {
  const { order, report, spec, label } = input
  const ordered = order.stop.rule === 'stability' ? order.stop.baseline : null
  const base = findStabilityBaseline(input, ordered)
  return base === null ? null : readPrimaryPair(spec, base.snapshot, buildSnapshot(spec, report, label))
}
