import { z } from 'zod'
import { type Aggregation, aggregateSamples } from './aggregate.ts'
import { toCanonicalJson, hashSha256 } from './canonical.ts'
import { failedOutputSchema } from './failed-output.ts'
import { digestSchema, experimentIdSchema, oidSchema } from './ids.ts'

/** What a runner answers to an order: raw samples in the order they were taken, and no verdict. */
export const sideSchema = z.union([
  z.literal('base'),
  experimentIdSchema,
  z.enum(['sync', 'foreign', 'revert', 'twin', 'incumbent']),
])
export type Side = z.infer<typeof sideSchema>

/** A number the harness printed, or null for one that is not finite. */
const scoreValueSchema = z.number().nullable()
/** The same for a metric, which may be a boolean where only gates read it. */
const readingSchema = z.union([z.number(), z.boolean()]).nullable()
export type MetricValue = z.infer<typeof readingSchema>
export type MetricValues = Record<string, MetricValue>

export const executionStatusSchema = z.enum([
  'ok',
  'crashed',
  'timeout',
  'bad-output',
  'smoke-failed',
  'score-failed',
])

export const executionSchema = z.strictObject({
  side: sideSchema,
  /** warmup: thrown away; smoke: ladder's cheap check; sample: counts; repeat: the once rule's second run;
   * holdout: on data of its own, which nothing but the holdout's verdict reads. */
  role: z.enum(['warmup', 'smoke', 'sample', 'repeat', 'holdout']),
  build: z.number().int().nonnegative(),
  seed: z.number().int().nonnegative(),
  status: executionStatusSchema,
  exit_code: z.number().int().nullable(),
  signal: z.string().nullable(),
  wall_seconds: z.number().nonnegative(),
  /** Metrics by name: built-ins (wall_seconds, cpu_seconds, max_rss_mb) and what the harness printed. */
  metrics: z.record(z.string(), readingSchema),
  tasks: z.record(z.string(), scoreValueSchema).optional(),
  artifacts: z.record(z.string(), z.string()).optional(),
  error: z.string().optional(),
  output: failedOutputSchema.optional(),
})
export type Execution = z.infer<typeof executionSchema>

export const gateRunSchema = z.strictObject({
  side: sideSchema,
  name: z.string(),
  phase: z.enum(['pre', 'post']),
  passed: z.boolean(),
  exit_code: z.number().int().nullable(),
  timed_out: z.boolean(),
  seconds: z.number().nonnegative(),
  /** Of a gate that passed, where its test runner prints a count. Shown to people; no verdict reads it. */
  tests_passed: z.number().int().nonnegative().optional(),
  output: failedOutputSchema.optional(),
})
export type GateRun = z.infer<typeof gateRunSchema>
/** By gate: how many tests passed. */
export type TestCounts = Record<string, number>

export const setupRunSchema = z.strictObject({
  side: sideSchema,
  build: z.number().int().nonnegative(),
  ok: z.boolean(),
  timed_out: z.boolean(),
  seconds: z.number().nonnegative(),
  output: failedOutputSchema.optional(),
})

export const machineSchema = z.strictObject({
  boot_id: z.string(),
  hostname_sha256: digestSchema,
  os: z.string(),
  kernel: z.string(),
  cpu_model: z.string(),
  cores: z.number().int().positive(),
  memory_mb: z.number().int().positive(),
  image: z.string().nullable(),
  node: z.string(),
})
export type MachineInfo = z.infer<typeof machineSchema>

const judgingCostSchema = z.strictObject({
  model: z.string(),
  requests: z.number().int().nonnegative(),
  tokens: z.number().int().nonnegative(),
  usd: z.number().nonnegative(),
})
export type JudgingUsage = z.infer<typeof judgingCostSchema>

/** A block of pairs under way, counted from 0 within the run, and the sides that take part. */
export const begunBlockSchema = z.strictObject({
  block: z.number().int().nonnegative(),
  sides: z.array(sideSchema),
})

export const reportSchema = z.strictObject({
  order: digestSchema,
  run_id: z.string(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime(),
  /** For other processes of this machine, before `started_at`: no cost, and no limit counts it. */
  waited_seconds: z.number().nonnegative().optional(),
  /** From the start of its job of GitHub Actions to `started_at`, where the runner shows when that was. */
  prepared_seconds: z.number().nonnegative().optional(),
  harness: digestSchema,
  /** Trees as they were laid out on disk, so that a report binds to them. */
  trees: z.record(z.string(), oidSchema),
  machine: machineSchema,
  /** unisolated: no own uid or container; unreaped: processes could not be proven dead; forgeable: the
   * harness loads candidate code in its own process and there is no separate score. */
  flags: z.array(z.enum(['unisolated', 'unreaped', 'forgeable'])),
  /** Beside unisolated, why nothing stronger was taken; said where it was a choice. */
  unisolated_because: z.string().optional(),
  setups: z.array(setupRunSchema),
  gates: z.array(gateRunSchema),
  executions: z.array(executionSchema),
  /** First file found changed that had to be byte-identical, and whose execution it followed. */
  tampered: z.strictObject({ during: sideSchema, path: z.string() }).nullable(),
  /** The runner itself failed (disk, missing tool): nobody's fault, retried. */
  runner_error: z.string().nullable(),
  /** The block of pairs in which it ended early: a pair that has begun is never drawn again (decision 039). */
  begun: begunBlockSchema.optional(),
  /** What scoring it by a model cost; its executions are items then, and their metrics what they were scored. */
  judging: judgingCostSchema.optional(),
})
export type Report = z.infer<typeof reportSchema>

/** What this side was measured to be does not count: it is broken, and this is why. */
export function markSideBroken(measured: Report, side: string | undefined, error: string): Report {
  const executions = measured.executions.map(run =>
    run.side === side ? { ...run, status: 'bad-output' as const, metrics: {}, error } : run,
  )
  return { ...measured, executions }
}

/** Stored scores may be compared only between machines that agree on these. */
export function buildMachineKey(of: MachineInfo): string {
  return hashSha256(toCanonicalJson({ cpu_model: of.cpu_model, cores: of.cores, image: of.image }))
}

/**
 * One value a metric, aggregated as verdicts aggregate it; null where one sample was not a number. A boolean stays one
 * where all samples agree.
 */
export function aggregateMetrics(
  of: Pick<Report, 'executions'>,
  which: Side,
  aggregation: Aggregation,
): MetricValues {
  const samples = of.executions.filter(
    run => run.side === which && run.role === 'sample' && run.status === 'ok',
  )
  const names = new Set(samples.flatMap(run => Object.keys(run.metrics)))
  return Object.fromEntries(
    [...names].map(name => [
      name,
      aggregateSamples(
        samples.map(run => run.metrics[name] ?? null),
        aggregation,
      ),
    ]),
  )
}

/** The number that a metric is; null where it is missing or a boolean, which is no number to calculate with. */
export function getNumber(metrics: Readonly<MetricValues>, name: string): number | null {
  const value = metrics[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
