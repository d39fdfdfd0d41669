import { getOwnValue } from '../../model/own-value.ts'
import { BENCHMARK_COUNT } from '../../spec/schema-values.ts'
import { type HarnessOutput, MetricCollector, toOutputError } from './harness-output.ts'

/** A benchmark's numbers, keyed by unit. */
export interface Benchmark {
  name: string
  /** Includes package, file or parameters. Used if several benchmarks share a name. */
  fullName: string
  values: Readonly<Record<string, number>>
  /** Its line in the output, for error messages. */
  line: string
}

export interface BenchmarkAdapter {
  read(text: string): Benchmark[]
  example: string
  /** How to make the tool write its output where winnow reads it. */
  hint: string
}

/**
 * The metrics of benchmarks (docs/adapters.md): `<name>.<unit>` for each, `geomean_<unit>` over all
 * benchmarks if all have that unit, and their count.
 */
export function computeBenchmarkMetrics(
  found: readonly Benchmark[],
  { example, hint }: BenchmarkAdapter,
): HarnessOutput {
  const [first] = found
  if (first === undefined) throw toOutputError(`no benchmark was run; use: ${hint}`, '', example)
  const metrics = new MetricCollector()
  metrics.add(BENCHMARK_COUNT, found.length, '', example)
  for (const unit of Object.keys(first.values)) {
    const values = found.map(({ values }) => getOwnValue(values, unit))
    if (values.every(value => value !== undefined)) {
      metrics.add(`geomean_${unit}`, computeGeometricMean(values), first.line, example)
    }
  }
  for (const [name, { values, line }] of nameBenchmarks(found)) {
    for (const [unit, value] of Object.entries(values)) {
      metrics.add(`${name}.${unit}`, value, line, example)
    }
  }
  return { metrics: metrics.all() }
}

/** All benchmarks that share a name get their full name, independent of their order. */
function nameBenchmarks(found: readonly Benchmark[]): [string, Benchmark][] {
  const counts = new Map<string, number>()
  for (const { name } of found) counts.set(cleanName(name), (counts.get(cleanName(name)) ?? 0) + 1)
  return found.map(benchmark => {
    const name = cleanName(benchmark.name)
    return [counts.get(name) === 1 ? name : cleanName(benchmark.fullName), benchmark]
  })
}

/** Other characters stay. MetricCollector refuses two names that become equal. */
function cleanName(name: string): string {
  return name.replaceAll(/\p{C}/gu, ' ').replaceAll(/\s+/g, ' ').trim()
}

/** Null if a value is 0 or less: the mean does not exist (invariant 5). */
function computeGeometricMean(values: readonly number[]): number | null {
  if (values.some(value => value <= 0)) return null
  const mean = values.reduce((sum, value) => sum + Math.log(value), 0) / values.length
  return Number(Math.exp(mean).toPrecision(12))
}

const PLAIN = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/
const GROUPED = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/

/** Accepts thousands separators. Null for text that is not a finite number. */
export function parseDecimal(text: string): number | null {
  if (!PLAIN.test(text) && !GROUPED.test(text)) return null
  const value = Number(text.replaceAll(',', ''))
  return Number.isFinite(value) ? value : null
}
