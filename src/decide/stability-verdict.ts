import type { Report, Side } from '../model/report.ts'
import type { Snapshot } from '../model/snapshot.ts'
import type { Spec } from '../spec/schema.ts'
import { again, type Finding, finding } from './assessment.ts'
import type { Stability } from './ladder.ts'
import { lookUp } from './lookup.ts'
import { executionsOf, snapshotOf } from './readings.ts'
import { otherThanStored } from './same-benchmarks.ts'
import { decideStability, type StabilityDecision } from './stability.ts'
import { changeText, plural } from './wording.ts'

type Input = { spec: Spec; report: Report; label: Side; baseline: Snapshot | null }
export type Baseline = { snapshot: Snapshot; stored: boolean }

/** The order's own baseline, else the base measured in this report, else what the caller has stored. */
export function stabilityBaseline(input: Input, ordered: Snapshot | null): Baseline | null {
  if (ordered !== null) return { snapshot: ordered, stored: true }
  if (executionsOf(input.report, 'base', 'sample').length > 0) {
    return { snapshot: snapshotOf(input.spec, input.report, 'base'), stored: false }
  }
  return input.baseline === null ? null : { snapshot: input.baseline, stored: true }
}

/** How many samples a finished report must hold: a shorter one is the runner's failure, not a verdict. */
function promised(stability: Stability): number {
  return stability.mode === 'repeat' ? stability.repeat_count : 1
}

const OUTCOMES = {
  keep: 'eligible',
  promising: 'inconclusive',
  revert: 'dropped',
  inconclusive: 'inconclusive',
  censored: 'censored',
  degenerate: 'degenerate',
  error: 'error',
} as const satisfies Record<StabilityDecision['decision'], Finding['outcome']>

const FAILURE_CLASSES = {
  keep: null,
  promising: null,
  revert: 'hypothesis',
  inconclusive: null,
  censored: 'hypothesis',
  degenerate: 'hypothesis',
  error: 'eval',
} as const satisfies Record<StabilityDecision['decision'], Finding['failure_class']>

function numbers({ metric }: Spec, stability: Stability, base: Snapshot, candidate: Snapshot): string | null {
  const { name, type } = metric.primary
  const by = { judged: type === 'judge', aggregation: stability.aggregation }
  const ours = lookUp(base, name, by)
  const theirs = lookUp(candidate, name, by)
  return ours === null || theirs === null ? null : changeText(name, ours.value, theirs.value)
}

export function assessByStability(input: Input, ordered: Snapshot | null): Finding {
  const { spec, report, label } = input
  const { stability } = spec.measurement
  if (stability === null) throw new TypeError('the stability rule needs measurement.stability in the spec')
  const baseline = stabilityBaseline(input, ordered)
  if (baseline === null) return again('there is no baseline to compare with')
  const taken = executionsOf(report, label, 'sample').length
  if (taken < promised(stability)) {
    return again(`the report has ${taken} of ${plural(promised(stability), 'sample')} of ${label}`)
  }
  const candidate = snapshotOf(spec, report, label)
  const other = baseline.stored ? otherThanStored(spec, baseline.snapshot, candidate) : null
  if (other !== null) return other
  const payload = { metric: spec.metric, measurement: { stability } }
  const decided = decideStability({ spec: payload, baseline: baseline.snapshot, candidate })
  const shown = numbers(spec, stability, baseline.snapshot, candidate)
  return toFinding(decided, shown, taken, spec.metric.primary.name)
}

function toFinding(
  decided: StabilityDecision,
  shown: string | null,
  taken: number,
  primary: string,
): Finding {
  const { decision, eligible: _, reason, ...facts } = decided
  const outcome = OUTCOMES[decision]
  const regressed = decided.comparisons[primary]?.verdict === 'regressed'
  const after = `${decision === 'promising' ? 'promising, not confirmed: ' : ''}${reason}`
  const text = shown === null ? after : `${shown}, ${plural(taken, 'sample')}: ${after}`
  return finding(outcome, text, {
    ...facts,
    worse: outcome === 'dropped' && (regressed || decided.violated_objectives.length > 0),
    failure_class: FAILURE_CLASSES[decision],
  })
}
