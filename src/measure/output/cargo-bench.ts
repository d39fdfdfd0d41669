import type { Adapter, Benchmark } from './benchmarks.ts'
import { criterionResults } from './criterion.ts'
import { decimalOf } from './decimal.ts'
import { badOutput } from './printed.ts'

export const CARGO_EXAMPLE = 'test parse_small ... bench:       1,234.56 ns/iter (+/- 7.89)'
const RESULT = /^test (.+?)\s+\.\.\. bench:\s+(\S+) ns\/iter \(\+\/- \S+\)(?: = .+)?$/
const STARTED = /^test .+ \.\.\. bench:/
const FAILED = /^test .+ \.\.\. FAILED|^test result: FAILED|^thread '.*' (?:\(\d+\) )?panicked at/
const SUMMARY = /^test result: ok\..* (\d+) measured;/

/** `cargo bench`: libtest's `#[bench]`, criterion, or targets of both kinds after each other. */
export const cargoBench: Adapter = {
  example: CARGO_EXAMPLE,
  hint: 'cargo bench',
  read: text => {
    const lines = text.split('\n')
    const failed = lines.find(line => FAILED.test(line))
    if (failed !== undefined) throw badOutput('a benchmark failed', failed, CARGO_EXAMPLE)
    return [...libtestResults(lines), ...criterionResults(lines)]
  },
}

/** libtest says how many it measured, so that a line that is lost is noticed. */
function libtestResults(lines: readonly string[]): Benchmark[] {
  const found: Benchmark[] = []
  let running: { line: string; before: number } | null = null
  for (const line of lines) {
    if (/^running \d+ tests?$/.test(line)) {
      if (running !== null) throw cutOff(running.line)
      running = { line, before: found.length }
    }
    const result = resultOf(line)
    if (result !== null) found.push(result)
    const measured = SUMMARY.exec(line)?.[1]
    if (measured === undefined || running === null) continue
    if (found.length - running.before !== Number(measured))
      throw badOutput(
        `${measured} were measured, but ${found.length - running.before} are shown`,
        line,
        CARGO_EXAMPLE,
      )
    running = null
  }
  if (running !== null) throw cutOff(running.line)
  return found
}

function cutOff(line: string) {
  return badOutput('the output is cut off: no test result follows this line', line, CARGO_EXAMPLE)
}

function resultOf(line: string): Benchmark | null {
  const [, name, time] = RESULT.exec(line.trimEnd()) ?? []
  if (name === undefined || time === undefined) {
    if (STARTED.test(line)) throw badOutput('a benchmark line that is not whole', line, CARGO_EXAMPLE)
    return null
  }
  const value = decimalOf(time)
  if (value === null) throw badOutput(`${JSON.stringify(time)} is not a number`, line, CARGO_EXAMPLE)
  return { name, fullName: name, values: { ns_per_iter: value }, line }
}
