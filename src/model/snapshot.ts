import { z } from 'zod'
import type { MetricValue, MetricValues } from './report.ts'

/**
 * One side's numbers as a verdict reads them (the snapshot of `winnow decide`, spec.md). Values stay
 * `unknown` until a rule asks for them: a missing, null or non-finite one must reach the rule as such,
 * because missing is not good (invariant 5).
 */
const measuredValueSchema = z.unknown()
export const snapshotSchema = z.strictObject({
  gates: z.record(z.string(), measuredValueSchema).optional(),
  metrics: z.record(z.string(), measuredValueSchema).optional(),
  judge: z.record(z.string(), measuredValueSchema).optional(),
  diagnostics: z.record(z.string(), measuredValueSchema).optional(),
  smoke_passed: z.boolean().nullable().optional(),
  sample_count: z.number().nullable().optional(),
  elapsed_seconds: z.number().nullable().optional(),
})
export type Snapshot = z.infer<typeof snapshotSchema>

/** One value a metric, aggregated as it was judged; what is neither number nor boolean is missing (invariant 5). */
export function aggregateSnapshot(of: Snapshot | null): MetricValues {
  const { metrics, diagnostics } = of ?? {}
  return Object.fromEntries(
    Object.entries({ ...diagnostics, ...metrics }).map(([name, value]) => [name, getAggregate(value)]),
  )
}

function getAggregate(value: unknown): MetricValue {
  const raw = typeof value === 'object' && value !== null && 'aggregate' in value ? value.aggregate : value
  return typeof raw === 'boolean' || (typeof raw === 'number' && Number.isFinite(raw)) ? raw : null
}
