import { z } from 'zod'
import { UserError } from '../../errors.ts'
import { getAggregation, type Report, type Side, type Snapshot, snapshotSchema } from '../../model/report.ts'
import { buildSpecSchema, type Spec } from '../../spec/schema.ts'
import { type AssessmentFinding, createFinding, createRetryFinding } from '../assessment.ts'
import { findOtherThanStored } from '../failures.ts'
import { buildSnapshot, listExecutions, lookUpMetric } from '../metrics.ts'
import { formatCount, formatMetricChange } from '../wording.ts'
import { explainUnconfirmed, findIncompleteScores } from './judged.ts'
import { decideStability, type StabilityDecision, type StabilityPayload } from './stability.ts'

type StabilityInput = { spec: Spec; report: Report; label: Side; baseline: Snapshot | null }

export type StabilityBaseline = { snapshot: Snapshot; stored: boolean }

/** The input of `winnow decide`: a spec of which only `metric`, `measurement.stability` and `policy` are read. */
const looseRecord = z.record(z.string(), z.unknown())

const rawMetricSchema = z.looseObject({
  primary: looseRecord.optional(),
  objectives: z.array(looseRecord).optional(),
  judge: looseRecord.nullish(),
})

const rawPayloadSchema = z.strictObject({
  spec: z.object({
    winnow: z.unknown().optional(),
    metric: rawMetricSchema.optional(),
    measurement: z.object({ stability: z.unknown().optional() }).optional(),
    policy: z.unknown().optional(),
  }),
  baseline: snapshotSchema,
  candidate: snapshotSchema,
})

type RawMetric = z.infer<typeof rawMetricSchema>

export function assessByStability(input: StabilityInput, ordered: Snapshot | null): AssessmentFinding {
  const { spec, report, label } = input
  const { stability } = spec.measurement
  if (stability === null) throw new TypeError('the stability rule needs measurement.stability in the spec')
  const baseline = findStabilityBaseline(input, ordered)
  if (baseline === null) return createRetryFinding('there is no baseline to compare with')
  const sampleCount = listExecutions(report, label, 'sample').length
  // Fewer samples are the runner's failure, not a verdict.
  const promised = stability.mode === 'repeat' ? stability.repeat_count : 1
  if (sampleCount < promised)
    return createRetryFinding(
      `the report has ${sampleCount} of ${formatCount(promised, 'sample')} of ${label}`,
    )
  const candidate = buildSnapshot(spec, report, label)
  const other = baseline.stored ? findOtherThanStored(spec, baseline.snapshot, candidate) : null
  if (other !== null) return other
  const compared = { spec, report, label, baseline: baseline.snapshot, candidate }
  const incomplete = findIncompleteScores(compared)
  if (incomplete !== null) return incomplete
  const payload = { metric: spec.metric, policy: spec.policy, measurement: { stability } }
  const decided = decideStability({ spec: payload, baseline: baseline.snapshot, candidate })
  const shown = formatPrimaryChange(spec, baseline.snapshot, candidate)
  const found = toStabilityFinding(decided, shown, sampleCount, spec.metric.primary.name)
  const isTie = decided.tie_breaker !== null
  const unconfirmed = found.outcome === 'eligible' ? explainUnconfirmed(compared, isTie) : null
  if (unconfirmed === null) return found
  return {
    ...found,
    outcome: 'inconclusive',
    target_reached: false,
    reason: `${found.reason}; ${unconfirmed}`,
  }
}

function formatPrimaryChange(spec: Spec, base: Snapshot, candidate: Snapshot): string | null {
  const values = readPrimaryPair(spec, base, candidate)
  return values && formatMetricChange(spec.metric.primary.name, values.base, values.candidate)
}

/** Null unless both sides have the primary metric. */
export function readPrimaryPair(
  spec: Spec,
  base: Snapshot,
  candidate: Snapshot,
): { base: number; candidate: number } | null {
  const { name, type } = spec.metric.primary
  const by = { judged: type === 'judge', aggregation: getAggregation(spec) }
  const baseReading = lookUpMetric(base, name, by)
  const candidateReading = lookUpMetric(candidate, name, by)
  if (baseReading === null || candidateReading === null) return null
  return { base: baseReading.value, candidate: candidateReading.value }
}

const STABILITY_OUTCOMES = {
  keep: { outcome: 'eligible', failure_class: null },
  promising: { outcome: 'inconclusive', failure_class: null },
  revert: { outcome: 'dropped', failure_class: 'hypothesis' },
  inconclusive: { outcome: 'inconclusive', failure_class: null },
  censored: { outcome: 'censored', failure_class: 'hypothesis' },
  degenerate: { outcome: 'degenerate', failure_class: 'hypothesis' },
  error: { outcome: 'error', failure_class: 'eval' },
} as const satisfies Record<
  StabilityDecision['decision'],
  Pick<AssessmentFinding, 'outcome' | 'failure_class'>
>

function toStabilityFinding(
  decided: StabilityDecision,
  shown: string | null,
  sampleCount: number,
  primary: string,
): AssessmentFinding {
  const { decision, eligible: _, tie_breaker: _tie, reason, ...facts } = decided
  const { outcome, failure_class } = STABILITY_OUTCOMES[decision]
  const regressed = decided.comparisons[primary]?.verdict === 'regressed'
  const after = `${decision === 'promising' ? 'promising, not confirmed: ' : ''}${reason}`
  const text = shown === null ? after : `${shown}, ${formatCount(sampleCount, 'sample')}: ${after}`
  return createFinding(outcome, text, {
    ...facts,
    worse: outcome === 'dropped' && (regressed || decided.violated_objectives.length > 0),
    failure_class,
  })
}

/** Prefers the order's own baseline, then the base measured in this report, then the caller's stored one. */
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

export function parseDecidePayload(text: string): StabilityPayload {
  const outer = rawPayloadSchema.safeParse(parseJson(text))
  if (!outer.success) return rejectPayload(outer.error, '')
  const { baseline, candidate } = outer.data
  return { spec: parsePayloadSpec(outer.data.spec), baseline, candidate }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UserError('payload: not JSON', { fix: 'give one JSON object per payload', cause })
  }
}

function rejectPayload(error: z.ZodError, prefix: string): never {
  const issue = error.issues[0]
  const path = [...(prefix === '' ? [] : [prefix]), ...(issue?.path ?? []).map(String)].join('.')
  throw new UserError(`payload${path === '' ? '' : `, at ${path}`}: ${issue?.message ?? 'not understood'}`, {
    place: { path },
    fix: 'give {spec, baseline, candidate}; the spec needs metric and measurement.stability',
  })
}

function parsePayloadSpec(raw: z.infer<typeof rawPayloadSchema>['spec']): StabilityPayload['spec'] {
  const rules = raw.winnow === 1 ? 'winnow' : 'ce'
  const metric = normalizeJudge(normalizePrimary(raw.metric ?? {}), raw.metric?.judge)
  const parsed = buildSpecSchema(rules).safeParse({
    ...(rules === 'winnow' ? { winnow: 1 } : {}),
    description: 'unread',
    metric,
    measurement: { command: 'unread', stability: raw.measurement?.stability ?? {} },
    scope: { mutable: ['unread'], immutable: ['unread'] },
    ...(raw.policy === undefined ? {} : { policy: raw.policy }),
  })
  if (!parsed.success) return rejectPayload(parsed.error, 'spec')
  const { stability } = parsed.data.measurement
  if (stability === null) throw new UserError('payload, at spec.measurement.stability: expected an object')
  return { metric: parsed.data.metric, policy: parsed.data.policy, measurement: { stability } }
}

/** Deciding reads only minimum_improvement of the judge; fields that only judging needs may be left out. */
function normalizeJudge(metric: Record<string, unknown>, judge: RawMetric['judge']): Record<string, unknown> {
  const primary = looseRecord.safeParse(metric['primary']).data ?? {}
  if (primary['type'] !== 'judge' && !judge) return metric
  const unread = { rubric: 'unread', scoring: { primary: 'unread' } }
  return { ...metric, judge: { ...unread, ...judge } }
}

/**
 * An objective under the primary's name fills what the primary leaves unset, and its max_regression wins over
 * the primary's own. Both end up in that entry, the only place where the schema has the bound.
 */
function normalizePrimary(metric: RawMetric): Record<string, unknown> {
  const own = metric.primary ?? {}
  const objectives = metric.objectives ?? []
  const namesake = (entry: Record<string, unknown>) => entry['name'] === own['name']
  const listed = objectives.find(entry => namesake(entry) && entry['role'] !== 'secondary')
  const filled = {
    type: listed?.['type'] ?? 'hard',
    direction: listed?.['direction'],
    target: listed?.['target'],
  }
  const { max_regression: ownBound, ...unbounded } = own
  const primary = { ...omitMissing(filled), ...omitMissing(unbounded) }
  const bound = listed?.['max_regression'] ?? ownBound
  const entry = { name: own['name'], direction: Reflect.get(primary, 'direction'), max_regression: bound }
  const others = objectives.filter(other => !namesake(other))
  return { ...metric, primary, objectives: bound === undefined ? others : [...others, entry] }
}

function omitMissing(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))
}
