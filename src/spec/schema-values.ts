import { z } from 'zod'

/** Selects the set of defaults: `winnow: 1`, or a ce-optimize spec. */
export type SpecRules = 'winnow' | 'ce'

/** The facts about the campaign's location that defaults depend on. */
export type SpecEnvironment = { host: 'local' | 'github'; privateRepository: boolean }

/** A record of JavaScript has no member of that name, so nothing in a spec can be called that. */
export const textSchema = z
  .string()
  .regex(/\S/, 'text that is not empty')
  .refine(text => text !== '__proto__', 'another text')
export const positiveSchema = z.number().positive()
export const countSchema = z.number().int().positive()
export const naturalSchema = z.number().int().nonnegative()

export const PERCENT = /^[-+]?(?:\d+\.?\d*|\.\d+)\s*%$/

export function isPercent(value: unknown): value is string {
  return typeof value === 'string' && PERCENT.test(value)
}

function parsePercent(text: string): number {
  // A single division gives the same double as the decimal fraction: 5% is exactly 0.05.
  return Number(text.replace('%', '').trim()) / 100
}

/** A key that takes a number or a percentage. */
export function shareSchema(bounds: z.ZodNumber, expected: string) {
  return z.union([bounds, z.string().regex(PERCENT).transform(parsePercent).pipe(bounds)], {
    error: `${expected}, or a percentage such as 5%`,
  })
}

export const shareOfAnySizeSchema = shareSchema(z.number().nonnegative(), 'a number, at least 0')
export const fractionSchema = shareSchema(z.number().min(0).max(1), 'a number from 0 to 1')
export const directionSchema = z.enum(['minimize', 'maximize'])
export const operatorSchema = z.enum(['>=', '<=', '>', '<', '==', '!='])

export const maxRegressionSchema = z.strictObject({
  type: z.enum(['relative', 'absolute']).describe('Whether value is a fraction of the base or metric units.'),
  value: shareSchema(z.number(), 'a number').describe('How much worse is still allowed.'),
})

// Gate checks

/**
 * The parsed check of a metric gate: "<op> <number|true|false>", or "== base" for the base's value of the same job.
 * An infinite bound is refused: it bounds nothing.
 */
export type GateOperator = '>=' | '<=' | '>' | '<' | '==' | '!='
type GateCheck = { op: GateOperator; value: number | boolean | 'base' }

const GATE_CHECK = /^\s*(>=|<=|==|!=|>|<)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|true|false)\s*$/

function isOperator(op: string | undefined): op is GateOperator {
  return op !== undefined && ['>=', '<=', '>', '<', '==', '!='].includes(op)
}

const SAME_AS_BASE = /^\s*==\s*base\s*$/

export function parseGateCheck(check: string): GateCheck | undefined {
  if (SAME_AS_BASE.test(check)) return { op: '==', value: 'base' }
  const [, op, bound] = GATE_CHECK.exec(check) ?? []
  if (!isOperator(op) || bound === undefined) return undefined
  if (bound === 'true' || bound === 'false') return { op, value: bound === 'true' }
  const value = Number(bound)
  return Number.isFinite(value) ? { op, value } : undefined
}

// Metrics that winnow or a benchmark tool defines

/** Native output formats of benchmark tools, the values of `measurement.output`. */
export const BENCHMARK_FORMATS = [
  'go',
  'cargo',
  'pytest-benchmark',
  'hyperfine',
  'vitest',
  'benchmark-js',
  'mitata',
] as const
export type BenchmarkFormat = (typeof BENCHMARK_FORMATS)[number]

/** The number of benchmarks found, an additional metric beside those of each benchmark. */
export const BENCHMARK_COUNT = 'benchmarks'

export function isBenchmarkFormat(output: string): output is BenchmarkFormat {
  return BENCHMARK_FORMATS.some(format => format === output)
}

/** winnow measures these around every execution. They never repeat exactly. */
export const TIMED_METRICS: ReadonlySet<string> = new Set(['wall_seconds', 'cpu_seconds', 'max_rss_mb'])

/** winnow counts these with a tool, only for specs that name them. They often repeat exactly. */
export const COUNTED_METRICS: ReadonlySet<string> = new Set([
  'instructions',
  'allocations',
  'allocated_bytes',
])

/** What the models of a harness cost and used, where winnow meters its calls. */
export const MODEL_METRICS: ReadonlySet<string> = new Set(['model_cost_usd', 'model_tokens'])

/** A harness must not print them. */
export const BUILT_IN_METRICS: ReadonlySet<string> = new Set([
  ...TIMED_METRICS,
  ...COUNTED_METRICS,
  ...MODEL_METRICS,
])
