import { z } from 'zod'
import type { BenchmarkAdapter, Benchmark } from './benchmarks.ts'
import { toOutputError } from './printed.ts'
import { findNamingLine } from './result-object.ts'
import { readUnitValues, parseToolJson, parseToolReport } from './tool-json.ts'

const HYPERFINE_EXAMPLE =
  '{"results": [{"command": "parse", "mean": 0.0132, "median": 0.0131, "min": 0.0129, "max": 0.0141, "user": 0.01, "system": 0.002, "exit_codes": [0]}]}'
const HYPERFINE_HINT = 'hyperfine --export-json "$WINNOW_RESULT_PATH" --command-name <name> <command>'
const TOLD = { example: HYPERFINE_EXAMPLE, tool: 'hyperfine' }
const HYPERFINE_TIMES = {
  mean_seconds: 'mean',
  median_seconds: 'median',
  min_seconds: 'min',
  max_seconds: 'max',
}
const TIMES_OF_ONE = { ...HYPERFINE_TIMES, user_seconds: 'user', system_seconds: 'system' }

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

/** `--export-json` of hyperfine 1 and of hyperfine 2, whose format is another one; both say times in seconds. */
export const hyperfine: BenchmarkAdapter = {
  example: HYPERFINE_EXAMPLE,
  hint: HYPERFINE_HINT,
  read: text => {
    const parsed = parseToolJson(text, HYPERFINE_EXAMPLE, HYPERFINE_HINT)
    const { success, data } = versioned.safeParse(parsed)
    if (!success) return parseHyperfine1(parsed, text)
    if (data.schema_version === 2) return parseHyperfine2(parsed, text)
    const line = findNamingLine(text, 'schema_version')
    throw toOutputError(
      `schema_version ${data.schema_version} of hyperfine is not known: 1 and 2 are`,
      line,
      HYPERFINE_EXAMPLE,
    )
  },
}

function parseHyperfine1(parsed: unknown, text: string): Benchmark[] {
  const { results } = parseToolReport(version1, parsed, { text, ...TOLD })
  return results.map(result => {
    const { command: name, exit_codes: exits = [], memory_usage_byte: memory = [], parameters = {} } = result
    requireSuccess(name, exits, text)
    const values = readUnitValues(result, TIMES_OF_ONE, { name, text, example: HYPERFINE_EXAMPLE })
    const mean = memory.reduce((sum, bytes) => sum + bytes, 0) / memory.length
    return {
      name,
      fullName: withParameters(name, Object.entries(parameters)),
      values: memory.length === 0 ? values : { ...values, memory_bytes: mean },
      line: name,
    }
  })
}

function parseHyperfine2(parsed: unknown, text: string): Benchmark[] {
  const { results } = parseToolReport(version2, parsed, { text, ...TOLD })
  return results.map(({ command, name = command, measurements, parameters = {}, summary }) => {
    requireSuccess(
      name,
      measurements.map(({ exit_code: code }) => code),
      text,
    )
    const { time_wall_clock: wall, ...others } = summary
    const told = { name, text, example: HYPERFINE_EXAMPLE }
    const means = Object.entries(others).map(([metric, stats]): [string, number] => [
      NAMES_IN_2[metric] ?? metric,
      readUnitValues(stats, { mean: 'mean' }, told)['mean'] ?? Number.NaN,
    ])
    const chosen = Object.entries(parameters).map(([key, { value }]): [string, string | number] => [
      key,
      value,
    ])
    return {
      name,
      fullName: withParameters(name, chosen),
      values: { ...readUnitValues(wall, HYPERFINE_TIMES, told), ...Object.fromEntries(means) },
      line: name,
    }
  })
}

/** Where both formats say the same thing it has the same name; other quantities keep theirs. */
const NAMES_IN_2: Readonly<Record<string, string>> = {
  time_user: 'user_seconds',
  time_system: 'system_seconds',
  time_cpu: 'cpu_seconds',
  memory_peak_resident: 'memory_bytes',
}

/** With --ignore-failure a command that failed is timed all the same; null is one that a signal ended. */
function requireSuccess(name: string, exits: readonly (number | null | undefined)[], text: string): void {
  const failed = exits.find(code => code !== 0 && code !== undefined)
  if (failed === undefined) return
  const how = failed === null ? 'was ended by a signal' : `ended with exit code ${failed}`
  throw toOutputError(
    `${name} ${how}: the time of a failure is no result`,
    findNamingLine(text, name),
    HYPERFINE_EXAMPLE,
  )
}

function withParameters(name: string, parameters: readonly (readonly [string, string | number])[]): string {
  if (parameters.length === 0) return name
  return `${name} (${parameters.map(([key, value]) => `${key}=${value}`).join(', ')})`
}
