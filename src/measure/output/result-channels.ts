import { canonicalJson } from '../../model/canonical.ts'
import type { MetricValue, MetricValues } from '../../model/report.ts'
import { type HarnessError } from '../../errors.ts'
import { METRIC_LINE, metricValueIn } from './metric-lines.ts'
import { badOutput, type Printed } from './printed.ts'
import { objectIn } from './object-in-text.ts'

type Stated = { name: string; value: MetricValue }

/**
 * A harness has one result. Where it is written to $WINNOW_RESULT_PATH and printed to stdout as well, both must say the
 * same: code under measurement can write the file after the harness has printed. Stdout that is a log states nothing.
 */
export function refuseDisagreement(
  written: Printed,
  stdout: string,
  { lines }: { lines: 'only' | 'too' },
): void {
  const object = lines === 'only' ? null : objectIn(stdout)
  const stated = [...(object === null ? [] : metricsIn(object)), ...metricLines(stdout)]
  compareMetrics(written.metrics, stated)
  const items = object?.['items']
  if (written.items !== undefined && Array.isArray(items)) compareItems(written.items, items)
}

/** The same for two outputs of one benchmark tool. */
export function refuseOtherBenchmarks(written: Printed, printed: Printed): void {
  compareMetrics(
    written.metrics,
    Object.entries(printed.metrics).map(([name, value]) => ({ name, value })),
  )
}

function compareMetrics(written: MetricValues, stated: readonly Stated[]): void {
  for (const { name, value } of stated) {
    if (!Object.hasOwn(written, name) || written[name] === value) continue
    throw disagreement(name, written[name] ?? null, value)
  }
}

function disagreement(name: string, written: MetricValue, printed: MetricValue): HarnessError {
  return badOutput(
    `$WINNOW_RESULT_PATH holds ${name} = ${valueText(written)}, and stdout says ${name} = ${valueText(printed)}: report it in one of them, or the same in both`,
    JSON.stringify({ [name]: printed }),
    JSON.stringify({ [name]: printed }),
  )
}

function compareItems(written: readonly unknown[], printed: readonly unknown[]): void {
  if (sortedJson(written) === sortedJson(printed)) return
  throw badOutput(
    `$WINNOW_RESULT_PATH holds ${written.length} items, and stdout has other items (${printed.length}): report them in one of them, or the same in both`,
    '',
    '{"items": [{"id": "1", "content": "text"}]}',
  )
}

function sortedJson(items: readonly unknown[]): string {
  return JSON.stringify(items.map(item => canonicalJson(item)).toSorted())
}

function valueText(value: MetricValue): string {
  return value === null ? 'no finite number' : String(value)
}

function metricsIn(object: Record<string, unknown>): Stated[] {
  const { metrics } = object
  const inner = typeof metrics === 'object' && metrics !== null ? Object.entries(metrics) : []
  return [...Object.entries(object), ...inner].flatMap(([name, value]) => {
    if (typeof value === 'number') return [{ name, value: Number.isFinite(value) ? value : null }]
    return typeof value === 'boolean' || value === null ? [{ name, value }] : []
  })
}

/** Lines that are no result by themselves (a unit, no value) are part of a log. */
function metricLines(text: string): Stated[] {
  return text.split(/\r?\n/).flatMap(line => {
    const [, name, written] = METRIC_LINE.exec(line) ?? []
    const value = written === undefined ? undefined : metricValueIn(written)
    return name === undefined || value === undefined ? [] : [{ name, value }]
  })
}
