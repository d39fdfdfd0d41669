import type { MetricValue } from '../../model/report.ts'
import { toOutputError, MetricCollector, type HarnessOutput } from './printed.ts'

export const METRIC_EXAMPLE = 'METRIC latency_ms=12.5'
const START = /^METRIC\s/
export const METRIC_LINE = /^METRIC\s+([^\s=]+)\s*=\s*(\S+)\s*$/
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/
const NOT_FINITE = /^[-+]?(?:nan|inf|infinity)$/i

/** `METRIC name=value` lines between whatever else is printed; null when there is none. */
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

/** Undefined where the text is neither a number nor a boolean. */
export function parseMetricValue(text: string): MetricValue | undefined {
  if (NUMBER.test(text)) return Number(text)
  if (text === 'true' || text === 'false') return text === 'true'
  return NOT_FINITE.test(text) ? null : undefined
}
