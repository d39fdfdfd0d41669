import { listObjectives } from '../decide/objectives.ts'
import { formatMetricChange, formatNumber, formatCount } from '../decide/wording.ts'
import { type Aggregation, getAggregation } from '../model/aggregate.ts'
import type { MetricValue, MetricValues } from '../model/report.ts'
import { BUILT_IN_METRICS } from '../spec/built-in-metrics.ts'
import type { Spec } from '../spec/schema.ts'
import { limitLines } from './listed.ts'
import { formatTable } from './table.ts'

export type ReadonlyMetrics = Readonly<MetricValues>

/** The parts of a spec that decide which metrics people see, and how. */
export interface ShownMetrics {
  /** The primary first, then the other objectives. */
  objectives: readonly string[]
  aggregation: Aggregation
}

const NO_SPEC: ShownMetrics = { objectives: [], aggregation: 'median' }

export function selectShownMetrics(spec: Pick<Spec, 'metric' | 'measurement'> | null): ShownMetrics {
  if (spec === null) return NO_SPEC
  return {
    objectives: listObjectives(spec.metric).map(({ name }) => name),
    aggregation: getAggregation(spec),
  }
}

const ON_ONE_LINE = 6

/**
 * Renders the metrics of a harness, the primary first and always. Where there is too much for one line, the objectives and how
 * many more. What winnow times of itself is shown where it is an objective, or where nothing else is there.
 */
export function formatMetrics(
  metrics: ReadonlyMetrics,
  { objectives }: Pick<ShownMetrics, 'objectives'>,
): string {
  return joinMetricCells(selectMetricCells(metrics, objectives), objectives)
}

/** The same of two sides: "bytes 50 -> 40 (-20.0 %), zeros 0 -> 0". */
export function formatChanges(
  base: ReadonlyMetrics,
  candidate: ReadonlyMetrics,
  { objectives }: Pick<ShownMetrics, 'objectives'>,
): string {
  const cells = selectMetricCells(candidate, objectives).map(([name, text]): [string, string] => {
    const [before = null, after = null] = [base[name], candidate[name]]
    if (typeof before === 'number' && typeof after === 'number')
      return [name, formatMetricChange(name, before, after).slice(name.length + 1)]
    return [name, before === null ? text : `${formatMetricValue(before)} -> ${text}`]
  })
  return joinMetricCells(cells, objectives)
}

function joinMetricCells(cells: readonly [string, string][], objectives: readonly string[]): string {
  const judged = cells.filter(([name]) => objectives.includes(name))
  const few = cells.length <= ON_ONE_LINE || judged.length === 0 ? cells : judged.slice(0, ON_ONE_LINE)
  const more = cells.length - few.length
  return [...few.map(cell => cell.join(' ')), ...(more === 0 ? [] : [`${more} more`])].join(', ')
}

/** The same; where there are too many for one line, how many, and each on a line of its own to choose from. */
export function renderMetrics(metrics: ReadonlyMetrics): [string, ...string[]] {
  const cells = selectMetricCells(metrics, [])
  if (cells.length === 0) return ['no metric']
  if (cells.length <= ON_ONE_LINE) return [formatMetrics(metrics, NO_SPEC)]
  return [
    formatCount(cells.length, 'metric'),
    ...limitLines(formatTable(cells.map(([name, value]) => [`  ${name}`, value]))),
  ]
}

function selectMetricCells(metrics: ReadonlyMetrics, objectives: readonly string[]): [string, string][] {
  const names = Object.keys(metrics)
  const first = objectives.filter(name => names.includes(name))
  const others = names.filter(name => !first.includes(name))
  const printed = others.filter(name => !BUILT_IN_METRICS.has(name))
  const chosen = first.length + printed.length > 0 ? [...first, ...printed] : others
  return chosen.map(name => [name, formatMetricValue(metrics[name] ?? null)])
}

/** A metric's value for people: booleans as they were printed. */
export function formatMetricValue(value: MetricValue): string {
  if (value === null) return 'missing'
  return typeof value === 'boolean' ? String(value) : formatNumber(value)
}
