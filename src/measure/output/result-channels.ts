import type { HarnessError } from '../../errors.ts'
import { toCanonicalJson } from '../../model/canonical-json.ts'
import type { MetricValue, MetricValues } from '../../model/report.ts'
import { type HarnessOutput, MetricCollector, toOutputError } from './harness-output.ts'
import { findJsonObject } from './result-object.ts'

type StatedMetric = { name: string; value: MetricValue }

/**
 * A result written to $WINNOW_RESULT_PATH and printed to stdout must be equal in both: code under measurement
 * can overwrite the file after the harness has printed. Stdout that is only a log states no result.
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

/** Lines that are no complete metric (with a unit, without a value) are part of a log. */
function collectMetricLines(text: string): StatedMetric[] {
  return text.split(/\r?\n/).flatMap(line => {
    const [, name, written] = METRIC_LINE.exec(line) ?? []
    const value = written === undefined ? undefined : parseMetricValue(written)
    return name === undefined || value === undefined ? [] : [{ name, value }]
  })
}

// Metric lines

export const METRIC_EXAMPLE = 'METRIC latency_ms=12.5'
const START = /^METRIC\s/
const METRIC_LINE = /^METRIC\s+([^\s=]+)\s*=\s*(\S+)\s*$/
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/
const NOT_FINITE = /^[-+]?(?:nan|inf|infinity)$/i

/** `METRIC name=value` lines between other output. Null if there are none. */
export function parseMetricLines(text: string): HarnessOutput | null {
  const lines = text.split(/\r?\n/).filter(line => START.test(line))
  if (lines.length === 0) return null
  const metrics = new MetricCollector()
  for (const line of lines) {
    const [, name, value] = METRIC_LINE.exec(line) ?? []
    if (name === undefined || value === undefined) {
      throw toOutputError('a METRIC line that is not name=value', line, METRIC_EXAMPLE)
    }
    metrics.add(name, requireMetricValue(value, line), line, METRIC_EXAMPLE)
  }
  return { metrics: metrics.all() }
}

function requireMetricValue(text: string, line: string): MetricValue {
  const value = parseMetricValue(text)
  if (value === undefined)
    throw toOutputError(`${JSON.stringify(text)} is not a number`, line, METRIC_EXAMPLE)
  return value
}

/** Undefined if the text is neither a number nor a boolean. */
function parseMetricValue(text: string): MetricValue | undefined {
  if (NUMBER.test(text)) return Number(text)
  if (text === 'true' || text === 'false') return text === 'true'
  return NOT_FINITE.test(text) ? null : undefined
}
