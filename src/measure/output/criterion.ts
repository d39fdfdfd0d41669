import type { Benchmark } from './benchmarks.ts'
import { parseDecimal } from './decimal.ts'
import { toOutputError } from './printed.ts'

const CRITERION_EXAMPLE = 'parse/small             time:   [1.2301 µs 1.2345 µs 1.2399 µs]'
const TIME = /^(.*?)\s*\btime:\s+\[(.*)$/
const ESTIMATE = /^(\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\]$/
const PROGRESS = /^Benchmarking (.+): (?:Warming up|Collecting|Analyzing)/
const CRITERION_NANOSECONDS: Readonly<Record<string, number>> = {
  ps: 1e-3,
  ns: 1,
  us: 1e3,
  '\u00b5s': 1e3,
  '\u03bcs': 1e3,
  ms: 1e6,
  s: 1e9,
}

/** criterion's `time: [low estimate high]`; a name that is too long for its column stands on the line before. */
export function parseCriterion(lines: readonly string[]): Benchmark[] {
  const found: Benchmark[] = []
  const started = new Map<string, string>()
  for (const [at, line] of lines.entries()) {
    const begun = PROGRESS.exec(line)?.[1]
    if (begun !== undefined) started.set(begun, line)
    const [, before, estimate] = TIME.exec(line) ?? []
    // Since the last run, in per cent: about another time, not about this one.
    if (before === undefined || estimate === undefined || estimate.includes('%')) continue
    const name = before.trim() === '' ? (lines[at - 1] ?? '').trim() : before.trim()
    if (name === '') throw toOutputError('a time of no benchmark', line, CRITERION_EXAMPLE)
    found.push({ name, fullName: name, values: { ns_per_iter: parseNanoseconds(estimate, line) }, line })
    started.delete(name)
  }
  const [unfinished] = started.values()
  if (unfinished !== undefined)
    throw toOutputError('a benchmark was begun and has no time', unfinished, CRITERION_EXAMPLE)
  return found
}

/** The one in the middle: criterion's own estimate, between the bounds of its interval. */
function parseNanoseconds(estimate: string, line: string): number {
  const [, , , number = '', unit = ''] = ESTIMATE.exec(estimate.trimEnd()) ?? []
  const value = parseDecimal(number)
  const factor = CRITERION_NANOSECONDS[unit]
  if (value === null || factor === undefined)
    throw toOutputError('a time that is not [low estimate high] with units', line, CRITERION_EXAMPLE)
  return Number((value * factor).toPrecision(12))
}
