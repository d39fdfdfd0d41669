import type { FoundBenchmark, OutputFormat } from './findings.ts'

/** What the benchmarks of one tool have in common, the mean over all of them (docs/adapters.md). */
const OVERALL: Partial<Readonly<Record<OutputFormat, string>>> = {
  go: 'geomean_ns_per_op',
  cargo: 'geomean_ns_per_iter',
  'pytest-benchmark': 'geomean_median_seconds',
  hyperfine: 'geomean_median_seconds',
  vitest: 'geomean_mean_ms',
  'benchmark-js': 'geomean_ns_per_op',
  mitata: 'geomean_ns_per_iter',
}

export function getOverallMetric(output: OutputFormat): string | undefined {
  return OVERALL[output]
}

export function createToolBenchmark(command: string, from: string, output: OutputFormat): FoundBenchmark {
  const name = getOverallMetric(output)
  return { command, from, output, metric: name === undefined ? null : { name, direction: 'minimize' } }
}
