import { z } from 'zod'
import { type Benchmark, type BenchmarkAdapter, parseDecimal } from './benchmarks.ts'
import { toOutputError } from './harness-output.ts'

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
  return UNITS[unit] ?? plain.replaceAll(/[^\p{L}\p{N}]+/gu, '_').replaceAll(/^_|_$/g, '')
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

function computeMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (lower + upper) / 2
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
