import { lookUp } from '../decide/lookup.ts'
import { numberText, plural } from '../decide/wording.ts'
import type { Snapshot } from '../model/snapshot.ts'
import { listed } from './listed.ts'
import { table } from './table.ts'
import { BUILT_IN_METRICS } from '../spec/built-in-metrics.ts'

export type Metrics = Readonly<Record<string, number | null>>

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
  return (printed.length > 0 ? printed : all).map(([name, value]) => [
    name,
    value === null ? 'missing' : numberText(value),
  ])
}

/** One number a metric; what is not a finite number is missing, never 0 (invariant 5). */
export function snapshotMetrics(snapshot: Snapshot | null): Record<string, number | null> {
  if (snapshot === null) return {}
  const names = [...Object.keys(snapshot.metrics ?? {}), ...Object.keys(snapshot.diagnostics ?? {})]
  const by = { judged: false, aggregation: 'median' } as const
  return Object.fromEntries(names.map(name => [name, lookUp(snapshot, name, by)?.value ?? null]))
}
