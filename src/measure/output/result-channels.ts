import { toCanonicalJson } from '../../model/canonical.ts'
import type { MetricValue, MetricValues } from '../../model/report.ts'
import { type HarnessError } from '../../errors.ts'
import { METRIC_LINE, parseMetricValue } from './metric-lines.ts'
import { toOutputError, type HarnessOutput } from './printed.ts'
import { findJsonObject } from './object-in-text.ts'

type StatedMetric = { name: string; value: MetricValue }

/**
 * A harness has one result. Where it is written to $WINNOW_RESULT_PATH and printed to stdout as well, both must say the
 * same: code under measurement can write the file after the harness has printed. Stdout that is a log states nothing.
 */
export function refuseDisagreement(
  written: HarnessOutput,
  stdout: string,
  { lines }: { lines: 'only' | 'too' },
): void {
  const object = lines === 'only' ? null : findJsonObject(stdout)
  const stated = [...(object === null ? [] : collectStatedMetrics(object)), ...collectMetricLines(stdout)]
  compareMetrics(written.metrics, stated)
  const items = object?.['items']
  if (written.items !== undefined && Array.isArray(items)) compareItems(written.items, items)
}

/** The same for two outputs of one benchmark tool. */
export function refuseOtherBenchmarks(written: HarnessOutput, printed: HarnessOutput): void {
  compareMetrics(
    written.metrics,
    Object.entries(printed.metrics).map(([name, value]) => ({ name, value })),
  )
}

function compareMetrics(written: MetricValues, stated: readonly StatedMetric[]): void {
  for (const { name, value } of stated) {
    if (!Object.hasOwn(written, name) || written[name] === value) continue
    throw toDisagreementError(name, written[name] ?? null, value)
  }
}

function toDisagreementError(name: string, written: MetricValue, printed: MetricValue): HarnessError {
  return toOutputError(
    `$WINNOW_RESULT_PATH holds ${name} = ${formatMetricValue(written)}, and stdout says ${name} = ${formatMetricValue(printed)}: report it in one of them, or the same in both`,
    JSON.stringify({ [name]: printed }),
    JSON.stringify({ [name]: printed }),
  )
}

function compareItems(written: readonly unknown[], printed: readonly unknown[]): void {
  if (toSortedJson(written) === toSortedJson(printed)) return
  throw toOutputError(
    `$WINNOW_RESULT_PATH holds ${written.length} items, and stdout has other items (${printed.length}): report them in one of them, or the same in both`,
    '',
    '{"items": [{"id": "1", "content": "text"}]}',
  )
}

function toSortedJson(items: readonly unknown[]): string {
  return JSON.stringify(items.map(item => toCanonicalJson(item)).toSorted())
}

function formatMetricValue(value: MetricValue): string {
  return value === null ? 'no finite number' : String(value)
}

function collectStatedMetrics(object: Record<string, unknown>): StatedMetric[] {
  const { metrics } = object
  const inner = typeof metrics === 'object' && metrics !== null ? Object.entries(metrics) : []
  return [...Object.entries(object), ...inner].flatMap(([name, value]) => {
    if (typeof value === 'number') return [{ name, value: Number.isFinite(value) ? value : null }]
    return typeof value === 'boolean' || value === null ? [{ name, value }] : []
  })
}

/** Lines that are no result by themselves (a unit, no value) are part of a log. */
function collectMetricLines(text: string): StatedMetric[] {
  return text.split(/\r?\n/).flatMap(line => {
    const [, name, written] = METRIC_LINE.exec(line) ?? []
    const value = written === undefined ? undefined : parseMetricValue(written)
    return name === undefined || value === undefined ? [] : [{ name, value }]
  })
}
