import type { Report, Side } from '../model/report.ts'
import type { Snapshot } from '../model/snapshot.ts'
import type { Spec } from '../spec/schema.ts'
import { createRetryFinding, type AssessmentFinding, createFinding } from './assessment.ts'
import type { StabilitySpec } from './ladder.ts'
import { lookUpMetric } from './lookup.ts'
import { listExecutions, buildSnapshot } from './readings.ts'
import { findOtherThanStored } from './same-benchmarks.ts'
import { decideStability, type StabilityDecision } from './stability.ts'
import { formatMetricChange, formatCount } from './wording.ts'

type StabilityInput = { spec: Spec; report: Report; label: Side; baseline: Snapshot | null }
export type StabilityBaseline = { snapshot: Snapshot; stored: boolean }

/** The order's own baseline, else the base measured in this report, else what the caller has stored. */
export function findStabilityBaseline(
  input: StabilityInput,
  ordered: Snapshot | null,
): StabilityBaseline | null {
  if (ordered !== null) return { snapshot: ordered, stored: true }
  if (listExecutions(input.report, 'base', 'sample').length > 0) {
    return { snapshot: buildSnapshot(input.spec, input.report, 'base'), stored: false }
  }
  return input.baseline === null ? null : { snapshot: input.baseline, stored: true }
}

/** How many samples a finished report must hold: a shorter one is the runner's failure, not a verdict. */
function countPromisedSamples(stability: StabilitySpec): number {
  return stability.mode === 'repeat' ? stability.repeat_count : 1
}

const STABILITY_OUTCOMES = {
  keep: 'eligible',
  promising: 'inconclusive',
  revert: 'dropped',
  inconclusive: 'inconclusive',
  censored: 'censored',
  degenerate: 'degenerate',
  error: 'error',
} as const satisfies Record<StabilityDecision['decision'], AssessmentFinding['outcome']>

const FAILURE_CLASSES = {
  keep: null,
  promising: null,
  revert: 'hypothesis',
  inconclusive: null,
  censored: 'hypothesis',
  degenerate: 'hypothesis',
  error: 'eval',
} as const satisfies Record<StabilityDecision['decision'], AssessmentFinding['failure_class']>

function formatPrimaryChange(
  { metric }: Spec,
  stability: StabilitySpec,
  base: Snapshot,
  candidate: Snapshot,
): string | null {
  const { name, type } = metric.primary
  const by = { judged: type === 'judge', aggregation: stability.aggregation }
  const ours = lookUpMetric(base, name, by)
  const theirs = lookUpMetric(candidate, name, by)
  return ours === null || theirs === null ? null : formatMetricChange(name, ours.value, theirs.value)
}

export function assessByStability(input: StabilityInput, ordered: Snapshot | null): AssessmentFinding {
  const { spec, report, label } = input
  const { stability } = spec.measurement
  if (stability === null) throw new TypeError('the stability rule needs measurement.stability in the spec')
  const baseline = findStabilityBaseline(input, ordered)
  if (baseline === null) return createRetryFinding('there is no baseline to compare with')
  const taken = listExecutions(report, label, 'sample').length
  if (taken < countPromisedSamples(stability)) {
    return createRetryFinding(
      `the report has ${taken} of ${formatCount(countPromisedSamples(stability), 'sample')} of ${label}`,
    )
  }
  const candidate = buildSnapshot(spec, report, label)
  const other = baseline.stored ? findOtherThanStored(spec, baseline.snapshot, candidate) : null
  if (other !== null) return other
  const payload = { metric: spec.metric, measurement: { stability } }
  const decided = decideStability({ spec: payload, baseline: baseline.snapshot, candidate })
  const shown = formatPrimaryChange(spec, stability, baseline.snapshot, candidate)
  return toStabilityFinding(decided, shown, taken, spec.metric.primary.name)
}

function toStabilityFinding(
  decided: StabilityDecision,
  shown: string | null,
  taken: number,
  primary: string,
): AssessmentFinding {
  const { decision, eligible: _, reason, ...facts } = decided
  const outcome = STABILITY_OUTCOMES[decision]
  const regressed = decided.comparisons[primary]?.verdict === 'regressed'
  const after = `${decision === 'promising' ? 'promising, not confirmed: ' : ''}${reason}`
  const text = shown === null ? after : `${shown}, ${formatCount(taken, 'sample')}: ${after}`
  return createFinding(outcome, text, {
    ...facts,
    worse: outcome === 'dropped' && (regressed || decided.violated_objectives.length > 0),
    failure_class: FAILURE_CLASSES[decision],
  })
}
