import type { Order } from '../model/order.ts'
import type { Report, Side } from '../model/report.ts'
import type { Snapshot } from '../model/snapshot.ts'
import type { Spec } from '../spec/schema.ts'
import { createRetryFinding, type Assessment, type AssessmentFinding, createFinding } from './assessment.ts'
import { findFailure } from './failures.ts'
import { listObjectives } from './objectives.ts'
import { assessOnce } from './once.ts'
import { lookUpMetric } from './lookup.ts'
import { listExecutions, readNumber, buildSnapshot } from './readings.ts'
import { assessByStability, findStabilityBaseline } from './stability-verdict.ts'
import { assessPaired } from './paired/assess-paired.ts'
import { assessPairs } from './paired/assess-pairs.ts'
import { isTargetReached } from './targets.ts'
import { listWarnings } from './warnings.ts'
import { formatMetricChange } from './wording.ts'

/** The verdict on one candidate of one order: a pure function of what was asked and answered (invariant 3). */
export type AssessInput = {
  spec: Spec
  order: Pick<Order, 'id' | 'stop' | 'carried'>
  report: Report
  label: Side
  /** The incumbent's stored snapshot, for an order that neither carries nor measures one. */
  baseline: Snapshot | null
}

/** Gates were all that was asked, and one run whose numbers are there; what a judge scores nobody asked of a judge. */
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

function assessByRule(input: AssessInput): AssessmentFinding {
  const { spec, order, report, label } = input
  if (order.stop.rule === 'paired') return assessPaired(input, order.stop)
  if (order.stop.rule === 'pairs') return assessPairs(input, order.stop)
  const failure = findFailure({ spec, report, label })
  if (failure !== null) return failure
  switch (order.stop.rule) {
    case 'once':
      return assessOnce({ spec, minEffect: order.stop.min_effect, scale: order.stop.scale }, report, label)
    case 'stability':
      return assessByStability(input, order.stop.baseline)
    case 'alone':
      return assessSingleRun(input)
    case 'holdout':
      return createRetryFinding('a holdout guards a merge and shows no gain')
    case 'calibrate':
      throw new TypeError('a calibration has no candidate to assess: use calibrate()')
    default:
      return order.stop satisfies never
  }
}

/** The primary on both sides in words; null where the report and the order do not have it on both. */
export function describePrimaryChange(input: AssessInput): string | null {
  const { order, report, spec, label } = input
  const { primary } = spec.metric
  const ordered = order.stop.rule === 'stability' ? order.stop.baseline : null
  const base = findStabilityBaseline(input, ordered)
  const by = {
    judged: primary.type === 'judge',
    aggregation: spec.measurement.stability?.aggregation ?? 'median',
  } as const
  const ours = base === null ? null : lookUpMetric(base.snapshot, primary.name, by)
  const theirs = lookUpMetric(buildSnapshot(spec, report, label), primary.name, by)
  return ours === null || theirs === null ? null : formatMetricChange(primary.name, ours.value, theirs.value)
}

export function assessCandidate(input: AssessInput): Assessment {
  const { order, report, spec } = input
  const baseline = order.stop.rule === 'stability' ? findStabilityBaseline(input, order.stop.baseline) : null
  return { ...assessByRule(input), warnings: listWarnings(spec, report, baseline) }
}
