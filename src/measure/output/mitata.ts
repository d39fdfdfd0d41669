import type { BenchmarkAdapter, Benchmark } from './benchmarks.ts'
import { parseDecimal } from './decimal.ts'
import { toOutputError } from './printed.ts'

const MITATA_EXAMPLE = 'split on blanks     70.34 ns/iter  45.43 ns'
const MITATA_RESULT = /^\s*(\S.*?)\s{2,}([\d.,]+)\s*(ps|ns|µs|μs|us|ms|s)\/iter\b/
const MITATA_FAILED = /^\s*\S.*?\s{2,}error:/
const MITATA_NANOSECONDS: Readonly<Record<string, number>> = {
  ps: 1e-3,
  ns: 1,
  µs: 1e3,
  μs: 1e3,
  us: 1e3,
  ms: 1e6,
  s: 1e9,
}

/** The table that mitata prints. */
export const mitata: BenchmarkAdapter = {
  example: MITATA_EXAMPLE,
  hint: 'await run()',
  read: text => text.split('\n').flatMap(line => parseMitataLine(line) ?? []),
}

function parseMitataLine(line: string): Benchmark | null {
  if (MITATA_FAILED.test(line)) throw toOutputError('a benchmark failed', line, MITATA_EXAMPLE)
  const [, name = '', number = '', unit = ''] = MITATA_RESULT.exec(line) ?? []
  const value = parseDecimal(number)
  const factor = MITATA_NANOSECONDS[unit]
  if (name !== '' && value !== null && factor !== undefined) {
    const values = { ns_per_iter: Number((value * factor).toPrecision(12)) }
    return { name, fullName: name, values, line }
  }
  if (!line.includes('/iter')) return null
  throw toOutputError('a line with a time per iteration that is not whole', line, MITATA_EXAMPLE)
}
