import { badOutput, Metrics, type Printed } from './printed.ts'

export const METRIC_EXAMPLE = 'METRIC latency_ms=12.5'
const START = /^METRIC\s/
const LINE = /^METRIC\s+([^\s=]+)\s*=\s*(\S+)\s*$/
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/
const NOT_FINITE = /^[-+]?(?:nan|inf|infinity)$/i

/** `METRIC name=value` lines between whatever else is printed; null when there is none. */
export function parseMetricLines(text: string): Printed | null {
  const lines = text.split(/\r?\n/).filter(line => START.test(line))
  if (lines.length === 0) return null
  const metrics = new Metrics()
  for (const line of lines) {
    const [, name, value] = LINE.exec(line) ?? []
    if (name === undefined || value === undefined) {
      throw badOutput('a METRIC line that is not name=value', line, METRIC_EXAMPLE)
    }
    metrics.add(name, numberOf(value, line), line, METRIC_EXAMPLE)
  }
  return { metrics: metrics.all() }
}

function numberOf(text: string, line: string): number | null {
  if (NUMBER.test(text)) return Number(text)
  if (text === 'true' || text === 'false') return Number(text === 'true')
  if (NOT_FINITE.test(text)) return null
  throw badOutput(`${JSON.stringify(text)} is not a number`, line, METRIC_EXAMPLE)
}
