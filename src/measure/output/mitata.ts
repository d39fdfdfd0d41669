import type { Adapter, Benchmark } from './benchmarks.ts'
import { decimalOf } from './decimal.ts'
import { badOutput } from './printed.ts'

const EXAMPLE = 'split on blanks     70.34 ns/iter  45.43 ns'
const RESULT = /^\s*(\S.*?)\s{2,}([\d.,]+)\s*(ps|ns|µs|μs|us|ms|s)\/iter\b/
const FAILED = /^\s*\S.*?\s{2,}error:/
const NANOSECONDS: Readonly<Record<string, number>> = {
  ps: 1e-3,
  ns: 1,
  µs: 1e3,
  μs: 1e3,
  us: 1e3,
  ms: 1e6,
  s: 1e9,
}

/** The table that mitata prints. */
export const mitata: Adapter = {
  example: EXAMPLE,
  hint: 'await run()',
  read: text => text.split('\n').flatMap(line => benchmarkIn(line) ?? []),
}

function benchmarkIn(line: string): Benchmark | null {
  if (FAILED.test(line)) throw badOutput('a benchmark failed', line, EXAMPLE)
  const [, name = '', number = '', unit = ''] = RESULT.exec(line) ?? []
  const value = decimalOf(number)
  const factor = NANOSECONDS[unit]
  if (name !== '' && value !== null && factor !== undefined) {
    const values = { ns_per_iter: Number((value * factor).toPrecision(12)) }
    return { name, fullName: name, values, line }
  }
  if (!line.includes('/iter')) return null
  throw badOutput('a line with a time per iteration that is not whole', line, EXAMPLE)
}
