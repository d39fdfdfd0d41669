import { agreedBoolean, finite, lookUp } from '../decide/lookup.ts'
import { numberText, plural } from '../decide/wording.ts'
import type { MetricValue, MetricValues } from '../model/report.ts'
import type { Snapshot } from '../model/snapshot.ts'
import { listed } from './listed.ts'
import { table } from './table.ts'
import { BUILT_IN_METRICS } from '../spec/built-in-metrics.ts'

export type Metrics = Readonly<MetricValues>

/** What a harness printed, for people; what winnow times of itself is shown only where nothing else is. */
export function metricsText(metrics: Metrics): string {
  return shown(metrics)
    .map(cells => cells.join(' '))
    .join(', ')
}

const ON_ONE_LINE = 6

/** The same; where there are too many for one line, how many, and each on a line of its own to choose from. */
export function metricsLines(metrics: Metrics): [string, ...string[]] {
  const cells = shown(metrics)
  if (cells.length === 0) return ['no metric']
  if (cells.length <= ON_ONE_LINE) return [metricsText(metrics)]
  return [
    plural(cells.length, 'metric'),
    ...listed(table(cells.map(([name, value]) => [`  ${name}`, value]))),
  ]
}

function shown(metrics: Metrics): [string, string][] {
  const all = Object.entries(metrics)
  const printed = all.filter(([name]) => !BUILT_IN_METRICS.has(name))
  return (printed.length > 0 ? printed : all).map(([name, value]) => [name, valueText(value)])
}

/** A metric's value for people: booleans as they were printed. */
export function valueText(value: MetricValue): string {
  if (value === null) return 'missing'
  return typeof value === 'boolean' ? String(value) : numberText(value)
}

/** The number that a metric is; null where it is missing or a boolean, with which nobody can calculate. */
export function numberIn(metrics: Metrics, name: string): number | null {
  return finite(metrics[name])
}

/** One value a metric; what is neither a finite number nor a boolean is missing, never 0 (invariant 5). */
export function snapshotMetrics(snapshot: Snapshot | null): MetricValues {
  if (snapshot === null) return {}
  const names = [...Object.keys(snapshot.metrics ?? {}), ...Object.keys(snapshot.diagnostics ?? {})]
  const by = { judged: false, aggregation: 'median' } as const
  return Object.fromEntries(
    names.map(name => [name, agreedBoolean(snapshot, name) ?? lookUp(snapshot, name, by)?.value ?? null]),
  )
}
