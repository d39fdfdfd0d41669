import type { FoundBenchmark, PrintedMetric } from './findings.ts'

const LINE = /METRIC ([A-Za-z_][\w.-]*)=/
const PRINTED = [
  /JSON\.stringify\(\s*\{\s*["']?([A-Za-z_]\w*)["']?\s*[:,}]/,
  /json\.dumps?\(\s*\{\s*["']([A-Za-z_]\w*)["']\s*:/,
  /\{\\?"([A-Za-z_]\w*)\\?"\s*:\s*(?:[$%#"'+]|\\?\()/,
  /JSON\.generate\(\s*\{?\s*["']?([A-Za-z_]\w*)["']?\s*(?::|=>)/,
]
const MORE_IS_BETTER =
  /(?:^|_)(?:ops|hz|rps|qps|throughput|per_s(?:ec(?:ond)?)?|score|accuracy|coverage|hits?|hit_rate|f1|recall|precision)(?:_|$)|perSec|opsPer|[a-z]Per[A-Z]/i

/** Printed to keep the work from being optimised away, or to show that it is right: no goal. */
const NO_GOAL = /^(?:check(?:_?sum)?|crc\d*|hash|digest|sink|dummy|guard|ok|sanity|seed)$/i

const ITEMS = /\{\s*\\?["']?items\\?["']?\s*[:,}]/

/** What the source of a benchmark says that it prints, as far as that shows; the rest is timed by winnow. */
export function detectPrintedMetric(
  source: string | null,
): Pick<FoundBenchmark, 'output' | 'metric' | 'printsItems'> {
  if (ITEMS.test(source ?? '')) return { output: 'json', metric: null, printsItems: true }
  const line = LINE.exec(source ?? '')?.[1]
  if (line !== undefined) return { output: 'metric-lines', metric: toPrintedMetric(line) }
  for (const pattern of PRINTED) {
    const name = pattern.exec(source ?? '')?.[1]
    if (name !== undefined)
      return { output: 'json', metric: NO_GOAL.test(name) ? null : toPrintedMetric(name) }
  }
  return { output: 'json', metric: null }
}

export function toPrintedMetric(name: string): PrintedMetric {
  return { name, direction: MORE_IS_BETTER.test(name) ? 'maximize' : 'minimize' }
}
