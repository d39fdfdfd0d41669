import type { BenchmarkAdapter, Benchmark } from './benchmarks.ts'
import { parseDecimal } from './decimal.ts'
import { toOutputError } from './printed.ts'

const BENCHMARK_JS_EXAMPLE = 'split on blanks x 13,777,566 ops/sec ±0.72% (92 runs sampled)'
const BENCHMARK_JS_RESULT = /^[\s│|]*(\S.*?)(?:\s+x|\s*[:=|│]|\s)\s*([\d.,]+)\s*ops\/s(?:ec(?:ond)?)?\b/
const RATE = /\bops\/s(?:ec(?:ond)?)?\b/

/** Reads the lines of benchmark.js, and of every tool that prints `<name> … 1,234 ops/sec` in lines. */
export const benchmarkJs: BenchmarkAdapter = {
  example: BENCHMARK_JS_EXAMPLE,
  hint: "suite.on('cycle', event => console.log(String(event.target)))",
  read: parseBenchmarkJs,
}

/** Several suites may have benchmarks of one name: the line before a suite tells them apart. */
function parseBenchmarkJs(text: string): Benchmark[] {
  let heading = ''
  const found: Benchmark[] = []
  for (const line of text.split('\n')) {
    const benchmark = parseBenchmarkJsLine(line, heading)
    if (benchmark !== null) found.push(benchmark)
    else if (line.trim() !== '') heading = line.trim().replace(/\s*:$/, '')
  }
  return found
}

function parseBenchmarkJsLine(line: string, heading: string): Benchmark | null {
  const [, name = '', number = ''] = BENCHMARK_JS_RESULT.exec(line) ?? []
  const rate = parseDecimal(number)
  if (name !== '' && rate !== null && rate > 0) {
    const values = { ns_per_op: Number((1e9 / rate).toPrecision(12)), ops_per_second: rate }
    return { name, fullName: heading === '' ? name : `${heading} > ${name}`, values, line }
  }
  if (!RATE.test(line) || !/\d|NaN|Infinity/.test(line)) return null
  throw toOutputError('a line with ops/sec that is not whole', line, BENCHMARK_JS_EXAMPLE)
}
