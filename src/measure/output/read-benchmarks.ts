import { HarnessError } from '../../errors.ts'
import type { BenchmarkFormat } from '../../spec/benchmark-formats.ts'
import { benchmarkJs } from './benchmark-js.ts'
import { type Adapter, metricsOf } from './benchmarks.ts'
import { printable, readCapped } from './capped-file.ts'
import { cargoBench } from './cargo-bench.ts'
import { goTest } from './go-test.ts'
import { hyperfine } from './hyperfine.ts'
import { badOutput, type Printed } from './printed.ts'
import { mitata } from './mitata.ts'
import { pytestBenchmark } from './pytest-benchmark.ts'
import { refuseOtherBenchmarks } from './result-channels.ts'
import { type OutputFiles, textOf } from './output-text.ts'
import { vitestBench } from './vitest-bench.ts'

const ADAPTERS = {
  go: goTest,
  cargo: cargoBench,
  'pytest-benchmark': pytestBenchmark,
  hyperfine,
  vitest: vitestBench,
  'benchmark-js': benchmarkJs,
  mitata,
} as const satisfies Record<BenchmarkFormat, Adapter>

/** pytest-benchmark writes every single timing. */
const MAX_BENCHMARK_BYTES = 64 * 2 ** 20

/** A tool's own output: what lies at $WINNOW_RESULT_PATH, else the whole of stdout. */
export function readBenchmarks(files: OutputFiles, format: BenchmarkFormat): Printed {
  const adapter = ADAPTERS[format]
  const written = textOf(readCapped(files.result, MAX_BENCHMARK_BYTES), 'the result file', adapter.example)
  if (written === null)
    return benchmarksIn(
      textOf(readCapped(files.stdout, MAX_BENCHMARK_BYTES), 'stdout', adapter.example) ?? '',
      adapter,
    )
  const found = benchmarksIn(written, adapter)
  const printed = printedBeside(files.stdout, adapter)
  if (printed !== null) refuseOtherBenchmarks(found, printed)
  return found
}

/** Most tools print a table for people while they write their file; that is no second result. */
function printedBeside(path: string, adapter: Adapter): Printed | null {
  const read = readCapped(path, MAX_BENCHMARK_BYTES)
  if (read.kind !== 'text') return null
  try {
    return benchmarksIn(read.text, adapter)
  } catch (error) {
    if (error instanceof HarnessError) return null
    throw error
  }
}

/** Colours, Windows' line ends and a byte order mark are no part of what is said. */
function benchmarksIn(text: string, adapter: Adapter): Printed {
  const plain = printable(text)
  if (plain.trim() === '')
    throw badOutput(`nothing was printed or written; use: ${adapter.hint}`, '', adapter.example)
  return metricsOf(adapter.read(plain), adapter)
}
