import { type Aggregation, aggregateValues } from '../model/aggregate.ts'
import type { Snapshot } from '../model/snapshot.ts'

/** A metric of one side as a rule reads it. Invariant 5: anything but finite numbers is `null`, missing. */
export type MetricReading = { value: number; samples: readonly number[] }

const HARD_ORDER = ['metrics', 'judge', 'diagnostics', 'gates'] as const
const JUDGE_ORDER = ['judge', 'metrics', 'diagnostics', 'gates'] as const

export function toFinite(raw: unknown): number | null {
  return typeof raw === 'number' && Number.isFinite(raw) ? raw : null
}

/** Gates may be booleans: true counts as 1, false as 0. */
export function toGateValue(raw: unknown): number | null {
  return typeof raw === 'boolean' ? Number(raw) : toFinite(raw)
}

/**
 * Returns the values that a constraint checks: every sample of the metric, or its one value. Booleans are legal
 * here, as in gates.
 */
export function listConstraintValues(snapshot: Snapshot, name: string): unknown[] {
  for (const place of HARD_ORDER) {
    const values = snapshot[place]
    if (values === undefined || !Object.hasOwn(values, name) || values[name] === undefined) continue
    const raw = values[name]
    if (!isRecord(raw)) return [raw]
    const { samples, aggregate: value } = raw
    return Array.isArray(samples) && samples.length > 0 ? samples : [value]
  }
  return [null]
}

function isRecord(raw: unknown): raw is Record<string, unknown> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw)
}

function readFiniteSamples(raw: unknown): number[] | null {
  if (raw === undefined || raw === null) return []
  if (!Array.isArray(raw)) return null
  const samples = raw.map(toFinite)
  return samples.every(sample => sample !== null) ? samples : null
}

function readMetric(raw: unknown, aggregation: Aggregation): MetricReading | null {
  if (!isRecord(raw)) {
    const value = toFinite(raw)
    return value === null ? null : { value, samples: [] }
  }
  const samples = readFiniteSamples(raw['samples'])
  if (samples === null) return null
  const value = samples.length > 0 ? aggregateValues(samples, aggregation) : toFinite(raw['aggregate'])
  return value === null ? null : { value, samples }
}

/** The first place that names the metric answers for it, even when what it holds is not a number. */
export function lookUpMetric(
  snapshot: Snapshot,
  name: string,
  options: { judged: boolean; aggregation: Aggregation },
): MetricReading | null {
  for (const place of options.judged ? JUDGE_ORDER : HARD_ORDER) {
    const values = snapshot[place]
    if (values === undefined || !Object.hasOwn(values, name)) continue
    const raw = values[name]
    if (raw === undefined) continue
    return readMetric(raw, options.aggregation)
  }
  return null
}
