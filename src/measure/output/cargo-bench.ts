import type { BenchmarkAdapter, Benchmark } from './benchmarks.ts'
import { parseCriterion } from './criterion.ts'
import { parseDecimal } from './decimal.ts'
import { toOutputError } from './printed.ts'

export const CARGO_EXAMPLE = 'test parse_small ... bench:       1,234.56 ns/iter (+/- 7.89)'
const LIBTEST_RESULT = /^test (.+?)\s+\.\.\. bench:\s+(\S+) ns\/iter \(\+\/- \S+\)(?: = .+)?$/
const STARTED = /^test .+ \.\.\. bench:/
const LIBTEST_FAILED = /^test .+ \.\.\. FAILED|^test result: FAILED|^thread '.*' (?:\(\d+\) )?panicked at/
const SUMMARY = /^test result: ok\..* (\d+) measured;/

/** `cargo bench`: libtest's `#[bench]`, criterion, or targets of both kinds after each other. */
export const cargoBench: BenchmarkAdapter = {
  example: CARGO_EXAMPLE,
  hint: 'cargo bench',
  read: text => {
    const lines = text.split('\n')
    const failed = lines.find(line => LIBTEST_FAILED.test(line))
    if (failed !== undefined) throw toOutputError('a benchmark failed', failed, CARGO_EXAMPLE)
    return [...parseLibtest(lines), ...parseCriterion(lines)]
  },
}

/** libtest says how many it measured, so that a line that is lost is noticed. */
function parseLibtest(lines: readonly string[]): Benchmark[] {
  const found: Benchmark[] = []
  let running: { line: string; before: number } | null = null
  for (const line of lines) {
    if (/^running \d+ tests?$/.test(line)) {
      if (running !== null) throw toLibtestCutError(running.line)
      running = { line, before: found.length }
    }
    const result = parseLibtestLine(line)
    if (result !== null) found.push(result)
    const measured = SUMMARY.exec(line)?.[1]
    if (measured === undefined || running === null) continue
    if (found.length - running.before !== Number(measured))
      throw toOutputError(
        `${measured} were measured, but ${found.length - running.before} are shown`,
        line,
        CARGO_EXAMPLE,
      )
    running = null
  }
  if (running !== null) throw toLibtestCutError(running.line)
  return found
}

function toLibtestCutError(line: string) {
  return toOutputError('the output is cut off: no test result follows this line', line, CARGO_EXAMPLE)
}

function parseLibtestLine(line: string): Benchmark | null {
  const [, name, time] = LIBTEST_RESULT.exec(line.trimEnd()) ?? []
  if (name === undefined || time === undefined) {
    if (STARTED.test(line)) throw toOutputError('a benchmark line that is not whole', line, CARGO_EXAMPLE)
    return null
  }
  const value = parseDecimal(time)
  if (value === null) throw toOutputError(`${JSON.stringify(time)} is not a number`, line, CARGO_EXAMPLE)
  return { name, fullName: name, values: { ns_per_iter: value }, line }
}
