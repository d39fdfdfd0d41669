/** What benchmark tools print by themselves; `measurement.output` names one of them. */
export const BENCHMARK_FORMATS = [
  'go',
  'cargo',
  'pytest-benchmark',
  'hyperfine',
  'vitest',
  'benchmark-js',
  'mitata',
] as const
export type BenchmarkFormat = (typeof BENCHMARK_FORMATS)[number]

/** How many benchmarks were found: one more metric, beside those of each of them. */
export const BENCHMARK_COUNT = 'benchmarks'

export function isBenchmarkFormat(output: string): output is BenchmarkFormat {
  return BENCHMARK_FORMATS.some(format => format === output)
}
