import { z } from 'zod'
import type { Benchmark, BenchmarkAdapter } from './benchmarks.ts'
import { toOutputError } from './harness-output.ts'
import { findDuplicateKey, findNamingLine } from './result-object.ts'

const record = z.record(z.string(), z.unknown())

/** The output of a tool, with an example of it for error messages. */
interface ToolOutput {
  text: string
  example: string
}

/** Accepts one whole JSON document. A truncated one, or other output around it, is an error. */
function parseToolJson({ text, example }: ToolOutput, hint: string): unknown {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    const last = text.trimEnd().split('\n').at(-1) ?? ''
    throw toOutputError(`not one whole JSON document; use: ${hint}`, last, example)
  }
  const twice = findDuplicateKey(text)
  if (twice !== null) throw toOutputError(`"${twice}" is given twice`, findNamingLine(text, twice), example)
  return parsed
}

function parseToolReport<S extends z.ZodType>(
  schema: S,
  parsed: unknown,
  { text, example }: ToolOutput,
  tool: string,
): z.output<S> {
  const checked = schema.safeParse(parsed)
  if (checked.success) return checked.data
  const path = checked.error.issues[0]?.path ?? []
  const where = path.length === 0 ? 'the whole' : path.map(String).join('.')
  const line = findNamingLine(text, String(path.findLast(part => typeof part === 'string') ?? ''))
  throw toOutputError(`not a report of ${tool}: ${where} is not as expected`, line, example)
}

/** A missing or infinite number is an error, also if the tool exits with 0. */
function readUnitValues(
  name: string,
  stats: unknown,
  fields: Readonly<Record<string, string>>,
  { text, example }: ToolOutput,
): Record<string, number> {
  const known = record.safeParse(stats).data ?? {}
  const read = (field: string): number => {
    const value = known[field]
    if (typeof value === 'number' && Number.isFinite(value)) return value
    const what = `${name} has no number as its ${field}: it failed, or did not run`
    throw toOutputError(what, findNamingLine(text, name), example)
  }
  return Object.fromEntries(Object.entries(fields).map(([unit, field]) => [unit, read(field)]))
}

// hyperfine

const HYPERFINE_EXAMPLE =
  '{"results": [{"command": "parse", "mean": 0.0132, "median": 0.0131, "min": 0.0129, "max": 0.0141, "user": 0.01, "system": 0.002, "exit_codes": [0]}]}'
const HYPERFINE_HINT = 'hyperfine --export-json "$WINNOW_RESULT_PATH" --command-name <name> <command>'
const HYPERFINE_TIMES = {
  mean_seconds: 'mean',
  median_seconds: 'median',
  min_seconds: 'min',
  max_seconds: 'max',
}
const HYPERFINE1_TIMES = { ...HYPERFINE_TIMES, user_seconds: 'user', system_seconds: 'system' }

const exitCode = z.number().nullable()
const version1 = z.object({
  results: z.array(
    z.looseObject({
      command: z.string(),
      exit_codes: z.array(exitCode).optional(),
      memory_usage_byte: z.array(z.number()).optional(),
      parameters: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
    }),
  ),
})

const version2 = z.object({
  results: z.array(
    z.object({
      command: z.string(),
      name: z.string().optional(),
      measurements: z.array(z.looseObject({ exit_code: exitCode.optional() })),
      parameters: z.record(z.string(), z.object({ value: z.union([z.string(), z.number()]) })).optional(),
      summary: z.looseObject({ time_wall_clock: z.unknown() }),
    }),
  ),
})
const versioned = z.looseObject({ schema_version: z.number() })

/** `--export-json` of hyperfine 1 and 2, which use different formats. Both give times in seconds. */
export const hyperfine: BenchmarkAdapter = {
  example: HYPERFINE_EXAMPLE,
  hint: HYPERFINE_HINT,
  read: text => {
    const output = { text, example: HYPERFINE_EXAMPLE }
    const parsed = parseToolJson(output, HYPERFINE_HINT)
    const { success, data } = versioned.safeParse(parsed)
    if (!success) return parseHyperfine1(parsed, output)
    if (data.schema_version === 2) return parseHyperfine2(parsed, output)
    const what = `schema_version ${data.schema_version} of hyperfine is not known: 1 and 2 are`
    throw toOutputError(what, findNamingLine(text, 'schema_version'), HYPERFINE_EXAMPLE)
  },
}

function parseHyperfine1(parsed: unknown, output: ToolOutput): Benchmark[] {
  const { results } = parseToolReport(version1, parsed, output, 'hyperfine')
  return results.map(result => {
    const { command: name, exit_codes: exits = [], memory_usage_byte: memory = [], parameters = {} } = result
    requireSuccess(name, exits, output)
    const values = readUnitValues(name, result, HYPERFINE1_TIMES, output)
    const mean = memory.reduce((sum, bytes) => sum + bytes, 0) / memory.length
    return {
      name,
      fullName: withParameters(name, Object.entries(parameters)),
      values: memory.length === 0 ? values : { ...values, memory_bytes: mean },
      line: name,
    }
  })
}

function parseHyperfine2(parsed: unknown, output: ToolOutput): Benchmark[] {
  const { results } = parseToolReport(version2, parsed, output, 'hyperfine')
  return results.map(({ command, name = command, measurements, parameters = {}, summary }) => {
    const exits = measurements.map(({ exit_code: code }) => code)
    requireSuccess(name, exits, output)
    const { time_wall_clock: wall, ...others } = summary
    const means = Object.entries(others).map(([metric, stats]) =>
      readUnitValues(name, stats, { [HYPERFINE2_NAMES[metric] ?? metric]: 'mean' }, output),
    )
    const chosen = Object.entries(parameters).map(([key, { value }]) => [key, value] as const)
    const values = Object.assign(readUnitValues(name, wall, HYPERFINE_TIMES, output), ...means)
    return { name, fullName: withParameters(name, chosen), values, line: name }
  })
}

/** Gives quantities that version 1 also reports the same names. Others keep theirs. */
const HYPERFINE2_NAMES: Readonly<Record<string, string>> = {
  time_user: 'user_seconds',
  time_system: 'system_seconds',
  time_cpu: 'cpu_seconds',
  memory_peak_resident: 'memory_bytes',
}

/** With --ignore-failure hyperfine also times commands that failed. Null: a signal ended the command. */
function requireSuccess(
  name: string,
  exits: readonly (number | null | undefined)[],
  { text, example }: ToolOutput,
): void {
  const failed = exits.find(code => code !== 0 && code !== undefined)
  if (failed === undefined) return
  const how = failed === null ? 'was ended by a signal' : `ended with exit code ${failed}`
  const what = `${name} ${how}: the time of a failure is no result`
  throw toOutputError(what, findNamingLine(text, name), example)
}

function withParameters(name: string, parameters: readonly (readonly [string, string | number])[]): string {
  if (parameters.length === 0) return name
  return `${name} (${parameters.map(([key, value]) => `${key}=${value}`).join(', ')})`
}

// vitest and tinybench

const VITEST_EXAMPLE =
  '{"files": [{"filepath": "/app/bench/parse.bench.ts", "groups": [{"fullName": "bench/parse.bench.ts > Parser", "benchmarks": [{"name": "small", "hz": 812.4, "mean": 1.23, "median": 1.22, "min": 1.2, "p75": 1.25, "p99": 1.4}]}]}]}'
const VITEST_HINT = 'vitest bench --run --outputJson "$WINNOW_RESULT_PATH"'
const VITEST_TIMES = { mean_ms: 'mean', min_ms: 'min', p75_ms: 'p75', p99_ms: 'p99' }

const vitestReport = z.object({
  files: z.array(
    z.object({
      groups: z.array(
        z.object({ fullName: z.string(), benchmarks: z.array(z.looseObject({ name: z.string() })) }),
      ),
    }),
  ),
})
const tasks = z.array(
  z.object({
    name: z.string(),
    result: z.looseObject({
      latency: z.record(z.string(), z.unknown()).optional(),
      throughput: z.record(z.string(), z.unknown()).optional(),
    }),
  }),
)

/** `vitest bench --outputJson`, or the tasks of tinybench, which vitest measures with. Times are in ms. */
export const vitestBench: BenchmarkAdapter = {
  example: VITEST_EXAMPLE,
  hint: VITEST_HINT,
  read: text => {
    const output = { text, example: VITEST_EXAMPLE }
    const parsed = parseToolJson(output, VITEST_HINT)
    return Array.isArray(parsed) ? parseTinybench(parsed, output) : parseVitest(parsed, output)
  },
}

function parseVitest(parsed: unknown, output: ToolOutput): Benchmark[] {
  const { files } = parseToolReport(vitestReport, parsed, output, 'vitest')
  return files.flatMap(({ groups }) =>
    groups.flatMap(({ fullName, benchmarks }) =>
      benchmarks.map(benchmark => {
        const [, ...suites] = fullName.split(' > ')
        const { name } = benchmark
        const fields = { ...VITEST_TIMES, ...getMedianField(benchmark, 'median'), hz: 'hz' }
        const values = readUnitValues(name, benchmark, fields, output)
        return { name: [...suites, name].join(' > '), fullName: `${fullName} > ${name}`, values, line: name }
      }),
    ),
  )
}

/** tinybench 3 separates latency and throughput. Earlier versions list all numbers together. */
function parseTinybench(parsed: unknown, output: ToolOutput): Benchmark[] {
  const found = parseToolReport(tasks, parsed, output, 'tinybench')
  return found.map(({ name, result }) => {
    const { latency, throughput } = result
    const stats = latency ?? result
    const fields = { ...VITEST_TIMES, ...getMedianField(stats, 'p50') }
    const times = readUnitValues(name, stats, fields, output)
    const rate =
      latency === undefined
        ? readUnitValues(name, result, { hz: 'hz' }, output)
        : readUnitValues(name, throughput, { hz: 'mean' }, output)
    return { name, fullName: name, values: { ...times, ...rate }, line: name }
  })
}

/** Older versions omit the median. */
function getMedianField(stats: object, field: string): Record<string, string> {
  return Object.hasOwn(stats, field) ? { median_ms: field } : {}
}

// pytest-benchmark

const PYTEST_EXAMPLE =
  '{"benchmarks": [{"name": "test_parse", "fullname": "tests/test_parse.py::test_parse", "stats": {"median": 0.0012, "mean": 0.0013, "min": 0.0011, "max": 0.002, "ops": 769.2}}]}'
const PYTEST_HINT = 'pytest --benchmark-only --benchmark-json="$WINNOW_RESULT_PATH"'
const FIELDS = {
  median_seconds: 'median',
  mean_seconds: 'mean',
  min_seconds: 'min',
  max_seconds: 'max',
  ops_per_second: 'ops',
}

const report = z.object({
  benchmarks: z.array(z.object({ name: z.string(), fullname: z.string(), stats: z.unknown() })),
})

/** `--benchmark-json`, which gives times in seconds. */
export const pytestBenchmark: BenchmarkAdapter = {
  example: PYTEST_EXAMPLE,
  hint: PYTEST_HINT,
  read: text => {
    const output = { text, example: PYTEST_EXAMPLE }
    const parsed = parseToolJson(output, PYTEST_HINT)
    const { benchmarks } = parseToolReport(report, parsed, output, 'pytest-benchmark')
    return benchmarks.map(({ name, fullname, stats }) => ({
      name,
      fullName: fullname,
      values: readUnitValues(name, stats, FIELDS, output),
      line: name,
    }))
  },
}
