import { lookUp } from '../decide/lookup.ts'
import { numberText } from '../decide/wording.ts'
import type { Snapshot } from '../model/snapshot.ts'
import { BUILT_IN_METRICS } from '../spec/built-in-metrics.ts'

export type Metrics = Readonly<Record<string, number | null>>

/** What a harness printed, for people; what winnow times of itself is shown only where nothing else is. */
export function metricsText(metrics: Metrics): string {
  const all = Object.entries(metrics)
  const printed = all.filter(([name]) => !BUILT_IN_METRICS.has(name))
  return (printed.length > 0 ? printed : all)
    .map(([name, value]) => `${name} ${value === null ? 'missing' : numberText(value)}`)
    .join(', ')
}

/** One number a metric; what is not a finite number is missing, never 0 (invariant 5). */
export function snapshotMetrics(snapshot: Snapshot | null): Record<string, number | null> {
  if (snapshot === null) return {}
  const names = [...Object.keys(snapshot.metrics ?? {}), ...Object.keys(snapshot.diagnostics ?? {})]
  const by = { judged: false, aggregation: 'median' } as const
  return Object.fromEntries(names.map(name => [name, lookUp(snapshot, name, by)?.value ?? null]))
}
