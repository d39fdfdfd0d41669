import { z } from 'zod'
import { UserError } from '../errors.ts'
import { snapshotSchema } from '../model/snapshot.ts'
import { buildSpecSchema } from '../spec/schema.ts'
import type { StabilityPayload } from './stability.ts'

/** The boundary of `winnow decide`: a spec of which only `metric` and `measurement.stability` are read. */
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
  }),
  baseline: snapshotSchema,
  candidate: snapshotSchema,
})
type RawMetric = z.infer<typeof rawMetricSchema>

function omitKeys(record: Record<string, unknown>, ...keys: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)))
}

function omitMissing(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))
}

/**
 * An objective under the primary's name fills what the primary leaves unset, and its max_regression wins
 * over the primary's own: both end up in that entry, the only place where the schema knows the bound.
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
  const primary = { ...omitMissing(filled), ...omitMissing(omitKeys(own, 'max_regression')) }
  const bound = listed?.['max_regression'] ?? own['max_regression']
  const entry = { name: own['name'], direction: Reflect.get(primary, 'direction'), max_regression: bound }
  const others = objectives.filter(other => !namesake(other))
  return { ...metric, primary, objectives: bound === undefined ? others : [...others, entry] }
}

/** Deciding reads nothing of the judge but minimum_improvement; what only judging needs may be left out. */
function normalizeJudge(metric: Record<string, unknown>, judge: RawMetric['judge']): Record<string, unknown> {
  const primary = looseRecord.safeParse(metric['primary']).data ?? {}
  if (primary['type'] !== 'judge' && !judge) return metric
  const unread = { rubric: 'unread', scoring: { primary: 'unread' } }
  return { ...metric, judge: { ...unread, ...judge } }
}

function rejectPayload(error: z.ZodError, prefix: string): never {
  const issue = error.issues[0]
  const path = [...(prefix === '' ? [] : [prefix]), ...(issue?.path ?? []).map(String)].join('.')
  throw new UserError(`payload${path === '' ? '' : `, at ${path}`}: ${issue?.message ?? 'not understood'}`, {
    place: { path },
    fix: 'give {spec, baseline, candidate}; the spec needs metric and measurement.stability',
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UserError('payload: not JSON', { fix: 'give one JSON object per payload', cause })
  }
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
  })
  if (!parsed.success) return rejectPayload(parsed.error, 'spec')
  const { stability } = parsed.data.measurement
  if (stability === null) throw new UserError('payload, at spec.measurement.stability: expected an object')
  return { metric: parsed.data.metric, measurement: { stability } }
}

export function parseDecidePayload(text: string): StabilityPayload {
  const outer = rawPayloadSchema.safeParse(parseJson(text))
  if (!outer.success) return rejectPayload(outer.error, '')
  const { baseline, candidate } = outer.data
  return { spec: parsePayloadSpec(outer.data.spec), baseline, candidate }
}
