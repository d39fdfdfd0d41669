import { HarnessError } from '../../errors.ts'
import type { BenchmarkFormat } from '../../spec/benchmark-formats.ts'
import { benchmarkJs } from './benchmark-js.ts'
import { type BenchmarkAdapter, computeBenchmarkMetrics } from './benchmarks.ts'
import { toPrintable, readCapped } from './capped-file.ts'
import { cargoBench } from './cargo-bench.ts'
import { goTest } from './go-test.ts'
import { hyperfine } from './hyperfine.ts'
import { toOutputError, type HarnessOutput } from './printed.ts'
import { mitata } from './mitata.ts'
import { pytestBenchmark } from './pytest-benchmark.ts'
import { refuseOtherBenchmarks } from './result-channels.ts'
import { type OutputFiles, getOutputText } from './output-text.ts'
import { vitestBench } from './vitest-bench.ts'

const ADAPTERS = {
  go: goTest,
  cargo: cargoBench,
  'pytest-benchmark': pytestBenchmark,
  hyperfine,
  vitest: vitestBench,
  'benchmark-js': benchmarkJs,
  mitata,
} as const satisfies Record<BenchmarkFormat, BenchmarkAdapter>

/** pytest-benchmark writes every single timing. */
const MAX_BENCHMARK_BYTES = 64 * 2 ** 20

/** A tool's own output: what lies at $WINNOW_RESULT_PATH, else the whole of stdout. */
export function readBenchmarks(files: OutputFiles, format: BenchmarkFormat): HarnessOutput {
  const adapter = ADAPTERS[format]
  const written = getOutputText(
    readCapped(files.result, MAX_BENCHMARK_BYTES),
    'the result file',
    adapter.example,
  )
  if (written === null)
    return parseBenchmarks(
      getOutputText(readCapped(files.stdout, MAX_BENCHMARK_BYTES), 'stdout', adapter.example) ?? '',
      adapter,
    )
  const found = parseBenchmarks(written, adapter)
  const printed = readPrintedTable(files.stdout, adapter)
  if (printed !== null) refuseOtherBenchmarks(found, printed)
  return found
}

/** Most tools print a table for people while they write their file; that is no second result. */
function readPrintedTable(path: string, adapter: BenchmarkAdapter): HarnessOutput | null {
  const read = readCapped(path, MAX_BENCHMARK_BYTES)
  if (read.kind !== 'text') return null
  try {
    return parseBenchmarks(read.text, adapter)
  } catch (error) {
    if (error instanceof HarnessError) return null
    throw error
  }
}

/** Colours, Windows' line ends and a byte order mark are no part of what is said. */
function parseBenchmarks(text: string, adapter: BenchmarkAdapter): HarnessOutput {
  const plain = toPrintable(text)
  if (plain.trim() === '')
    throw toOutputError(`nothing was printed or written; use: ${adapter.hint}`, '', adapter.example)
  return computeBenchmarkMetrics(adapter.read(plain), adapter)
}
