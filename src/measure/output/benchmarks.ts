import { BENCHMARK_COUNT } from '../../spec/schema-values.ts'
import { type HarnessOutput, MetricCollector, toOutputError } from './harness-output.ts'

/** One benchmark as a tool reported it, its numbers by unit. */
export interface Benchmark {
  name: string
  /** With its package, file or parameters: used where several benchmarks have one name. */
  fullName: string
  values: Readonly<Record<string, number>>
  /** Where it stands in the output, for people. */
  line: string
}

/** What reads the output of one tool. */
export interface BenchmarkAdapter {
  read(text: string): Benchmark[]
  /** One valid benchmark. */
  example: string
  /** How the tool is made to leave its output where it is read. */
  hint: string
}

/**
 * The metrics of benchmarks (docs/adapters.md): `<name>.<unit>` of each, `geomean_<unit>` over all of them where all
 * have that unit, and how many there are.
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
    const values = found.map(({ values }) => values[unit])
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

/** Every benchmark of a name that several have is told by its full name, whichever came first. */
function nameBenchmarks(found: readonly Benchmark[]): [string, Benchmark][] {
  const counts = new Map<string, number>()
  for (const { name } of found) counts.set(cleanName(name), (counts.get(cleanName(name)) ?? 0) + 1)
  return found.map(benchmark => {
    const name = cleanName(benchmark.name)
    return [counts.get(name) === 1 ? name : cleanName(benchmark.fullName), benchmark]
  })
}

/** Names are otherwise kept as they are; two that become one are refused where they are added. */
function cleanName(name: string): string {
  return name.replaceAll(/\p{C}/gu, ' ').replaceAll(/\s+/g, ' ').trim()
}

/** Of what is 0 or less there is none: missing, never a number that hides it (invariant 5). */
function computeGeometricMean(values: readonly number[]): number | null {
  if (values.some(value => value <= 0)) return null
  const mean = values.reduce((sum, value) => sum + Math.log(value), 0) / values.length
  return Number(Math.exp(mean).toPrecision(12))
}

const PLAIN = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/
const GROUPED = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/

/** A number as benchmark tools print it, thousands separators included; null for whatever is not a finite one. */
export function parseDecimal(text: string): number | null {
  if (!PLAIN.test(text) && !GROUPED.test(text)) return null
  const value = Number(text.replaceAll(',', ''))
  return Number.isFinite(value) ? value : null
}
