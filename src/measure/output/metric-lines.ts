import type { MetricValue } from '../../model/report.ts'
import { badOutput, Metrics, type Printed } from './printed.ts'

export const METRIC_EXAMPLE = 'METRIC latency_ms=12.5'
const START = /^METRIC\s/
export const METRIC_LINE = /^METRIC\s+([^\s=]+)\s*=\s*(\S+)\s*$/
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/
const NOT_FINITE = /^[-+]?(?:nan|inf|infinity)$/i

/** `METRIC name=value` lines between whatever else is printed; null when there is none. */
export function parseMetricLines(text: string): Printed | null {
  const lines = text.split(/\r?\n/).filter(line => START.test(line))
  if (lines.length === 0) return null
  const metrics = new Metrics()
  for (const line of lines) {
    const [, name, value] = METRIC_LINE.exec(line) ?? []
    if (name === undefined || value === undefined) {
      throw badOutput('a METRIC line that is not name=value', line, METRIC_EXAMPLE)
    }
    metrics.add(name, metricValueOf(value, line), line, METRIC_EXAMPLE)
  }
  return { metrics: metrics.all() }
}

function metricValueOf(text: string, line: string): MetricValue {
  const value = metricValueIn(text)
  if (value === undefined) throw badOutput(`${JSON.stringify(text)} is not a number`, line, METRIC_EXAMPLE)
  return value
}

/** Undefined where the text is neither a number nor a boolean. */
export function metricValueIn(text: string): MetricValue | undefined {
  if (NUMBER.test(text)) return Number(text)
  if (text === 'true' || text === 'false') return text === 'true'
  return NOT_FINITE.test(text) ? null : undefined
}
