import { z } from 'zod'
import { getOwnValue } from '../../model/own-value.ts'
import { computeMedian } from '../../model/report.ts'
import { type Benchmark, type BenchmarkAdapter, parseDecimal } from './benchmarks.ts'
import { toOutputError } from './harness-output.ts'

/** In a line of a megabyte, some patterns would search for hours. */
const LINE_SEARCHED = 1_000

// cargo bench: libtest

const CARGO_EXAMPLE = 'test parse_small ... bench:       1,234.56 ns/iter (+/- 7.89)'
const LIBTEST_RESULT = /^test (.+?)\s+\.\.\. bench:\s+(\S+) ns\/iter \(\+\/- \S+\)(?: = .+)?$/
const STARTED = /^test .+ \.\.\. bench:/
const LIBTEST_FAILED = /^test .+ \.\.\. FAILED|^test result: FAILED|^thread '.*' (?:\(\d+\) )?panicked at/
const SUMMARY = /^test result: ok\..* (\d+) measured;/

/** `cargo bench`: libtest's `#[bench]`, criterion, or targets of both kinds in sequence. */
export const cargoBench: BenchmarkAdapter = {
  example: CARGO_EXAMPLE,
  hint: 'cargo bench',
  read: text => {
    const lines = text.split('\n').map(line => line.slice(0, LINE_SEARCHED))
    const failed = lines.find(line => LIBTEST_FAILED.test(line))
    if (failed !== undefined) throw toOutputError('a benchmark failed', failed, CARGO_EXAMPLE)
    return [...parseLibtest(lines), ...parseCriterion(lines)]
  },
}

/** libtest prints how many benchmarks it measured, so a missing line is detected. */
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

// cargo bench: criterion

const CRITERION_EXAMPLE = 'parse/small             time:   [1.2301 µs 1.2345 µs 1.2399 µs]'
const TIME = /^(.*?)\s*\btime:\s+\[(.*)$/
const ESTIMATE = /^(\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\]$/
const PROGRESS = /^Benchmarking (.+): (?:Warming up|Collecting|Analyzing)/
const NANOSECONDS: Readonly<Record<string, number>> = {
  ps: 1e-3,
  ns: 1,
  us: 1e3,
  '\u00b5s': 1e3,
  '\u03bcs': 1e3,
  ms: 1e6,
  s: 1e9,
}

/** criterion's `time: [low estimate high]`. A name that is too long for its column is on the line before. */
function parseCriterion(lines: readonly string[]): Benchmark[] {
  const found: Benchmark[] = []
  const started = new Map<string, string>()
  for (const [at, line] of lines.entries()) {
    const begun = PROGRESS.exec(line)?.[1]
    if (begun !== undefined) started.set(begun, line)
    const [, before, estimate] = TIME.exec(line) ?? []
    // A change in per cent since the last run, not a time.
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

/** The middle value is criterion's estimate; the others are the bounds of its interval. */
function parseNanoseconds(estimate: string, line: string): number {
  const [, , , number = '', unit = ''] = ESTIMATE.exec(estimate.trimEnd()) ?? []
  const value = parseDecimal(number)
  const factor = NANOSECONDS[unit]
  if (value === null || factor === undefined)
    throw toOutputError('a time that is not [low estimate high] with units', line, CRITERION_EXAMPLE)
  return Number((value * factor).toPrecision(12))
}

// benchmark.js

const BENCHMARK_JS_EXAMPLE = 'split on blanks x 13,777,566 ops/sec ±0.72% (92 runs sampled)'
const BENCHMARK_JS_RESULT = /^[\s│|]*(\S.*?)(?:\s+x|\s*[:=|│]|\s)\s*([\d.,]+)\s*ops\/s(?:ec(?:ond)?)?\b/
const RATE = /\bops\/s(?:ec(?:ond)?)?\b/

/** benchmark.js, and every tool that prints lines of the form `<name> … 1,234 ops/sec`. */
export const benchmarkJs: BenchmarkAdapter = {
  example: BENCHMARK_JS_EXAMPLE,
  hint: "suite.on('cycle', event => console.log(String(event.target)))",
  read: parseBenchmarkJs,
}

/** Suites may repeat benchmark names. The line before a suite tells them apart. */
function parseBenchmarkJs(text: string): Benchmark[] {
  let heading = ''
  const found: Benchmark[] = []
  for (const line of text.split('\n')) {
    const benchmark = parseBenchmarkJsLine(line, heading)
    if (benchmark !== null) found.push(benchmark)
    else if (line.trim() !== '') heading = line.trim().slice(0, LINE_SEARCHED).replace(/\s*:$/, '')
  }
  return found
}

function parseBenchmarkJsLine(line: string, heading: string): Benchmark | null {
  const [, name = '', number = ''] = searchLine(BENCHMARK_JS_RESULT, line) ?? []
  const rate = parseDecimal(number)
  if (name !== '' && rate !== null && rate > 0) {
    const values = { ns_per_op: Number((1e9 / rate).toPrecision(12)), ops_per_second: rate }
    return { name, fullName: heading === '' ? name : `${heading} > ${name}`, values, line }
  }
  if (!RATE.test(line) || !/\d|NaN|Infinity/.test(line)) return null
  throw toOutputError('a line with ops/sec that is not whole', line, BENCHMARK_JS_EXAMPLE)
}

// mitata

const MITATA_EXAMPLE = 'split on blanks     70.34 ns/iter  45.43 ns'
const MITATA_RESULT = /^\s*(\S.*?)\s{2,}([\d.,]+)\s*(ps|ns|µs|μs|us|ms|s)\/iter\b/
const MITATA_FAILED = /^\s*\S.*?\s{2,}error:/

export const mitata: BenchmarkAdapter = {
  example: MITATA_EXAMPLE,
  hint: 'await run()',
  read: text => text.split('\n').flatMap(line => parseMitataLine(line) ?? []),
}

function parseMitataLine(line: string): Benchmark | null {
  if (searchLine(MITATA_FAILED, line) !== null)
    throw toOutputError('a benchmark failed', line, MITATA_EXAMPLE)
  const [, name = '', number = '', unit = ''] = searchLine(MITATA_RESULT, line) ?? []
  const value = parseDecimal(number)
  const factor = NANOSECONDS[unit]
  if (name !== '' && value !== null && factor !== undefined) {
    const values = { ns_per_iter: Number((value * factor).toPrecision(12)) }
    return { name, fullName: name, values, line }
  }
  if (!line.includes('/iter')) return null
  throw toOutputError('a line with a time per iteration that is not whole', line, MITATA_EXAMPLE)
}

function searchLine(pattern: RegExp, line: string): RegExpExecArray | null {
  return line.length > LINE_SEARCHED ? null : pattern.exec(line)
}

// Go

const EXAMPLE = 'BenchmarkParse-8   \t    1000\t      1234 ns/op\t     512 B/op\t       4 allocs/op'
const RESULT = /^(Benchmark\S*)\s+(\d+)\s+(\S.*)$/
const BROKEN = /^Benchmark\S*\s/
const FAILED = /^\s*--- FAIL:|^FAIL(?:\s|$)|^panic: |^exit status \d/
const PROCESSORS = /-\d+$/
const UNITS: Readonly<Record<string, string>> = { 'B/op': 'bytes_per_op', 'MB/s': 'mb_per_s' }

/** `go test -bench`, as text or with `-json`. */
export const goTest: BenchmarkAdapter = {
  example: EXAMPLE,
  hint: 'go test -run "^$" -bench . -benchmem ./...',
  read: text => {
    const runs = parseGoRuns(text.trimStart().startsWith('{') ? joinTestOutput(text) : text)
    const suffix = findCommonSuffix(runs)
    return [...groupRuns(runs, suffix).values()].map(repeats => combineRuns(repeats, suffix))
  },
}

interface GoBenchmarkRun {
  package: string
  name: string
  values: Map<string, number>
  line: string
}

function parseGoRuns(text: string): GoBenchmarkRun[] {
  const runs: GoBenchmarkRun[] = []
  let packageName = ''
  let unfinished: string | null = null
  for (const line of text.split('\n')) {
    if (FAILED.test(line)) throw toOutputError('a benchmark failed', line, EXAMPLE)
    if (/^(?:PASS|ok\s)/.test(line)) unfinished = null
    if (line.startsWith('pkg: ')) {
      if (unfinished !== null) throw toGoCutError(unfinished)
      packageName = line.slice('pkg: '.length).trim()
    }
    const [, name, , measured] = RESULT.exec(line) ?? []
    if (name !== undefined && measured !== undefined) {
      runs.push({ package: packageName, name, values: parseGoValues(measured, line), line })
      unfinished = line
    } else if (BROKEN.test(line)) {
      throw toOutputError(
        'a benchmark line that is not whole: print to stderr, not between them',
        line,
        EXAMPLE,
      )
    }
  }
  if (unfinished !== null) throw toGoCutError(unfinished)
  return runs
}

function toGoCutError(line: string) {
  return toOutputError('the output ends without PASS: it is cut off after this line', line, EXAMPLE)
}

function parseGoValues(measured: string, line: string): Map<string, number> {
  const words = measured.trim().split(/\s+/)
  const values = new Map<string, number>()
  for (let at = 0; at < words.length; at += 2) {
    const [number = '', unit] = words.slice(at, at + 2)
    const value = parseDecimal(number)
    if (value === null || unit === undefined)
      throw toOutputError(`${JSON.stringify(number)} is not a number with its unit`, line, EXAMPLE)
    const key = toUnitName(unit)
    if (key === '') throw toOutputError(`the unit ${unit} is no name`, line, EXAMPLE)
    if (values.has(key)) throw toOutputError(`${unit} is given twice`, line, EXAMPLE)
    values.set(key, value)
  }
  return values
}

/** `ns/op` becomes `ns_per_op`. Custom units follow the same rule. */
function toUnitName(unit: string): string {
  const plain = unit.replaceAll('/', '_per_').replaceAll('%', 'percent')
  return getOwnValue(UNITS, unit) ?? plain.replaceAll(/[^\p{L}\p{N}]+/gu, '_').replaceAll(/^_|_$/g, '')
}

/** The processor count, if all names share it. With `-cpu 1,2` it differs and stays part of the name. */
function findCommonSuffix(runs: readonly GoBenchmarkRun[]): string {
  const suffixes = new Set(runs.map(({ name }) => PROCESSORS.exec(name)?.[0] ?? ''))
  const [suffix = ''] = suffixes
  return suffixes.size === 1 ? suffix : ''
}

function groupRuns(runs: readonly GoBenchmarkRun[], suffix: string): Map<string, GoBenchmarkRun[]> {
  const groups = new Map<string, GoBenchmarkRun[]>()
  for (const run of runs) {
    const key = JSON.stringify([run.package, toShortName(run, suffix)])
    groups.set(key, [...(groups.get(key) ?? []), run])
  }
  return groups
}

function toShortName({ name }: GoBenchmarkRun, suffix: string): string {
  return name.slice(0, name.length - suffix.length)
}

/** `-count=N` repeats every line. Uses the median. */
function combineRuns(repeats: readonly GoBenchmarkRun[], suffix: string): Benchmark {
  const [first] = repeats
  if (first === undefined) throw new TypeError('a group of no run')
  const units = [...first.values.keys()]
  const odd = repeats.find(
    ({ values }) => values.size !== units.length || units.some(unit => !values.has(unit)),
  )
  if (odd !== undefined) throw toOutputError(`${odd.name} has other units than before`, odd.line, EXAMPLE)
  const name = toShortName(first, suffix)
  return {
    name,
    fullName: first.package === '' ? name : `${first.package}.${name}`,
    values: Object.fromEntries(
      units.map(unit => [unit, computeMedian(repeats.map(({ values }) => values.get(unit) ?? Number.NaN))]),
    ),
    line: first.line,
  }
}

const event = z.object({ Action: z.string(), Package: z.string().optional(), Output: z.string().optional() })

/** Packages run in parallel, so their events are interleaved. */
function joinTestOutput(events: string): string {
  const outputs = new Map<string, string>()
  for (const line of events.split('\n')) {
    if (line.trim() === '') continue
    const { Package: key = '', Output: output = '' } = parseTestEvent(line)
    outputs.set(key, (outputs.get(key) ?? '') + output)
  }
  return [...outputs.values()].join('\n')
}

function parseTestEvent(line: string): z.infer<typeof event> {
  try {
    return event.parse(JSON.parse(line))
  } catch {
    throw toOutputError(
      'a line that is no event of go test -json',
      line,
      '{"Action":"output","Output":"PASS\\n"}',
    )
  }
}
