import { z } from 'zod'
import type { Spec } from '../spec/schema.ts'
import { hashSha256, toCanonicalJson } from './canonical-json.ts'
import { digestSchema, experimentIdSchema, oidSchema } from './ids.ts'
import { getOwnValue } from './own-value.ts'
import { probeLabelSchema } from './probe.ts'
import { REACHES } from './reach.ts'
import {
  computeTaskMeans,
  isPairedByTask,
  taskFactsSchema,
  type TaskScores,
  taskScoresSchema,
} from './tasks.ts'

/** A report answers an order: raw samples in the order they were taken, and no verdict. */
export const sideSchema = z.union([
  z.literal('base'),
  experimentIdSchema,
  z.enum(['sync', 'foreign', 'revert', 'base-copy', 'incumbent']),
  probeLabelSchema,
])
export type Side = z.infer<typeof sideSchema>

/** Longer texts are printed as a digest of them. */
export const MOST_TEXT = 200

/** Characters of what a judge or a harness writes about one result. */
export const MOST_FEEDBACK = 400

/** Null for a number that is not finite; only gates read booleans, and only `== base` reads text. */
export const readingSchema = z.union([z.number(), z.boolean(), z.string().max(MOST_TEXT)]).nullable()
export type MetricValue = z.infer<typeof readingSchema>
export type MetricValues = Record<string, MetricValue>

/** The output of a failed command: enough to find the cause, within the size of a report. */
export const failedOutputSchema = z.strictObject({
  /** The lines in which a known test runner names the failed tests and their causes. */
  failing: z.array(z.string()),
  stdout: z.string(),
  stderr: z.string(),
})
export type FailedOutput = z.infer<typeof failedOutputSchema>

const executionSchema = z.strictObject({
  side: sideSchema,
  /**
   * warmup: discarded. smoke: the ladder's cheap check. sample: counts. repeat: the second run of the once rule.
   * holdout: on separate data, read only by the holdout's verdict.
   */
  role: z.enum(['warmup', 'smoke', 'sample', 'repeat', 'holdout']),
  build: z.number().int().nonnegative(),
  seed: z.number().int().nonnegative(),
  status: z.enum(['ok', 'crashed', 'timeout', 'bad-output', 'smoke-failed', 'score-failed']),
  exit_code: z.number().int().nullable(),
  signal: z.string().nullable(),
  wall_seconds: z.number().nonnegative(),
  /** Metrics by name: built-ins (wall_seconds, cpu_seconds, max_rss_mb) and the printed ones. */
  metrics: z.record(z.string(), readingSchema),
  /** The task of the suite that this execution ran. */
  task: z.string().optional(),
  /** Scores of single tasks, as the harness printed them; in a suite, that of its task. */
  tasks: taskScoresSchema.optional(),
  tasks_meta: taskFactsSchema.optional(),
  artifacts: z.record(z.string(), z.string()).optional(),
  /** What judges wrote about its lowest scored items, or its harness about its tasks. Only where epochs read it. */
  feedback: z.record(z.string(), z.string()).optional(),
  /** Lines of stdout that are not blank. Set for a run that succeeded, where both sides have the same harness. */
  printed_lines: z.number().int().nonnegative().optional(),
  error: z.string().optional(),
  output: failedOutputSchema.optional(),
})
export type Execution = z.infer<typeof executionSchema>

/** Lines of stdout that are not blank, and the last of them with its numbers replaced by #. */
const gateOutputSchema = z.strictObject({ lines: z.number().int().nonnegative(), last: z.string() })
export type GateOutput = z.infer<typeof gateOutputSchema>

const gateRunSchema = z.strictObject({
  side: sideSchema,
  name: z.string(),
  phase: z.enum(['pre', 'post']),
  passed: z.boolean(),
  exit_code: z.number().int().nullable(),
  timed_out: z.boolean(),
  seconds: z.number().nonnegative(),
  /** Set for a passed gate whose test runner prints a count. */
  tests_passed: z.number().int().nonnegative().optional(),
  /** Set for a passed gate. */
  printed: gateOutputSchema.optional(),
  output: failedOutputSchema.optional(),
})
export type GateRun = z.infer<typeof gateRunSchema>
export type TestCounts = Record<string, number>

const setupRunSchema = z.strictObject({
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

/** What models have cost. */
const modelCostFields = {
  requests: z.number().int().nonnegative(),
  tokens: z.number().int().nonnegative(),
  usd: z.number().nonnegative(),
}
export const modelCostSchema = z.strictObject(modelCostFields)
export type ModelCost = z.infer<typeof modelCostSchema>

const judgingCostSchema = z.strictObject({
  model: z.string(),
  ...modelCostFields,
  /** Of the judges with labels of people. Null: the labels cannot tell. Absent: not asked. */
  agreement: z.number().nullable().optional(),
})
export type JudgingUsage = z.infer<typeof judgingCostSchema>

/** A block of pairs that has begun, counted from 0 within the run, and its sides. */
export const begunBlockSchema = z.strictObject({
  block: z.number().int().nonnegative(),
  sides: z.array(sideSchema),
})

export const reportSchema = z.strictObject({
  order: digestSchema,
  run_id: z.string(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime(),
  /** Time spent waiting for other processes of this machine before `started_at`. No cost or limit counts it. */
  waited_seconds: z.number().nonnegative().optional(),
  /** Time from the start of its GitHub Actions job to `started_at`, when the runner shows it. */
  prepared_seconds: z.number().nonnegative().optional(),
  harness: digestSchema,
  /** The trees as checked out on disk, which bind the report to them. */
  trees: z.record(z.string(), oidSchema),
  machine: machineSchema,
  /**
   * unisolated: no separate uid or container. unreaped: processes may still be alive. Probes, and not reports, say
   * whether a harness is forgeable.
   */
  flags: z.array(z.enum(['unisolated', 'unreaped'])),
  /** With unisolated: the reason why no stronger isolation was used, when it was a choice. */
  unisolated_because: z.string().optional(),
  /** With unisolated: the ways in which the sides could reach each other. */
  reach: z.array(z.enum(REACHES)).optional(),
  setups: z.array(setupRunSchema),
  gates: z.array(gateRunSchema),
  executions: z.array(executionSchema),
  /** The first changed file that had to stay byte-identical, and the side that ran before the check. */
  tampered: z.strictObject({ during: sideSchema, path: z.string() }).nullable(),
  /** The runner itself failed (full disk, missing tool). Neither side is at fault, and the order is retried. */
  runner_error: z.string().nullable(),
  /** The block in which the run ended early. A pair that has begun is never drawn again (decision 039). */
  begun: begunBlockSchema.optional(),
  /** The cost of scoring by models. Its executions are items, and their metrics are scores. */
  judging: judgingCostSchema.optional(),
  /** The cost of the models that its harness asked through winnow. `model_cost_usd` shows it for each execution. */
  metered: judgingCostSchema.optional(),
})
export type Report = z.infer<typeof reportSchema>

/** Discards the measurements of one side and marks it as broken. */
export function markSideBroken(measured: Report, side: string | undefined, error: string): Report {
  const executions = measured.executions.map(run =>
    run.side === side ? { ...run, status: 'bad-output' as const, metrics: {}, error } : run,
  )
  return { ...measured, executions }
}

/** Stored scores are comparable only between machines that agree on these. */
export function buildMachineKey(machine: MachineInfo): string {
  return hashSha256(
    toCanonicalJson({ cpu_model: machine.cpu_model, cores: machine.cores, image: machine.image }),
  )
}

export function aggregateMetrics(
  report: Pick<Report, 'executions'>,
  side: Side,
  aggregation: Aggregation,
): MetricValues {
  const samples = report.executions.filter(
    run => run.side === side && run.role === 'sample' && run.status === 'ok',
  )
  const aggregate = (name: string): MetricValue => {
    const values = samples.map(run => getOwnValue(run.metrics, name) ?? null)
    return aggregateSamples(values, aggregation)
  }
  const names = new Set(samples.flatMap(run => Object.keys(run.metrics)))
  return Object.fromEntries([...names].map(name => [name, aggregate(name)]))
}

/** The executions of a side that count for its tasks. */
export function listTaskRuns({ executions }: Pick<Report, 'executions'>, side: Side): Execution[] {
  return executions.filter(
    run => run.side === side && (run.role === 'sample' || run.role === 'repeat') && run.tasks !== undefined,
  )
}

/** Undefined where no execution printed a task. */
export function aggregateTasks(report: Pick<Report, 'executions'>, side: Side): TaskScores | undefined {
  const runs = listTaskRuns(report, side)
  return runs.length === 0 ? undefined : computeTaskMeans(runs)
}

/** Returns null for a missing value and for a boolean. */
export function getNumber(metrics: Readonly<MetricValues>, name: string): number | null {
  return toFinite(metrics[name])
}

/** Invariant 5: anything but a finite number is missing. */
export function toFinite(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

// Failures

export interface FailedPart {
  /** set-up, gate <name>, or the harness. */
  what: string
  /** null: no output was printed. */
  output: FailedOutput | null
}

/** Returns the side's first failure, in the order of execution; null when everything worked. */
export function findFailedPart({ setups, gates, executions }: Report, side: Side): FailedPart | null {
  const setup = setups.find(each => each.side === side && !each.ok)
  if (setup !== undefined) return { what: 'set-up', output: setup.output ?? null }
  const gate = gates.find(each => each.side === side && !each.passed)
  if (gate !== undefined) return { what: `gate ${gate.name}`, output: gate.output ?? null }
  const run = executions.find(each => each.side === side && each.status !== 'ok')
  return run === undefined ? null : { what: 'the harness', output: run.output ?? null }
}

export function isEmptyOutput({ failing, stdout, stderr }: FailedOutput): boolean {
  return failing.length === 0 && stdout.trim() === '' && stderr.trim() === ''
}

export function joinStreams(output: FailedOutput | undefined): string {
  return output === undefined ? '' : [output.stdout, output.stderr].filter(text => text !== '').join('\n')
}

const MACHINE_FAILURE_PREFIX = 'this machine failed, not your code: '

export function formatMachineFailure(why: string): string {
  return `${MACHINE_FAILURE_PREFIX}${why}`
}

/** The machine failed at every attempt, so the measured code may need more than the machine has. */
export function appendAttempts(reason: string, attempts: number): string {
  const plain = reason.startsWith(MACHINE_FAILURE_PREFIX)
    ? `the machine failed each time: ${reason.slice(MACHINE_FAILURE_PREFIX.length)}`
    : reason
  return `${plain} (${attempts} attempts)`
}

export function formatRunnerError(error: string): string {
  return error.startsWith(MACHINE_FAILURE_PREFIX) ? error : `the runner failed: ${error}`
}

/** Resources that a harness held while it ran, for which a concurrent execution would compete. */
export interface HeldResources {
  ports: number[]
  /** Files outside its own copy that it had open for writing. */
  files: string[]
  /** Accelerators. */
  devices: string[]
}

// Snapshots and aggregation

/**
 * One side's numbers as a verdict reads them (the snapshot of `winnow decide`, spec.md). Values stay `unknown` until
 * a rule uses them: a missing, null or non-finite value must reach the rule as such, because missing is not good
 * (invariant 5).
 */
const measuredValueSchema = z.unknown()
export const snapshotSchema = z.strictObject({
  gates: z.record(z.string(), measuredValueSchema).optional(),
  metrics: z.record(z.string(), measuredValueSchema).optional(),
  judge: z.record(z.string(), measuredValueSchema).optional(),
  diagnostics: z.record(z.string(), measuredValueSchema).optional(),
  smoke_passed: z.boolean().nullable().optional(),
  sample_count: z.number().nullable().optional(),
  elapsed_seconds: z.number().nullable().optional(),
  /** The mean of each task. Only what winnow measured has it. */
  tasks: taskScoresSchema.optional(),
})
export type Snapshot = z.infer<typeof snapshotSchema>

/** Returns one value for each metric. A value that is neither number nor boolean counts as missing (invariant 5). */
export function aggregateSnapshot(snapshot: Snapshot | null): MetricValues {
  const { metrics, diagnostics } = snapshot ?? {}
  return Object.fromEntries(
    Object.entries({ ...diagnostics, ...metrics }).map(([name, value]) => [name, getAggregate(value)]),
  )
}

function getAggregate(value: unknown): MetricValue {
  const raw = typeof value === 'object' && value !== null && 'aggregate' in value ? value.aggregate : value
  return typeof raw === 'boolean' ? raw : toFinite(raw)
}

export type Aggregation = NonNullable<Spec['measurement']['stability']>['aggregation']

/** The rule that combines several samples into one number: the mean over tasks, the median of repeated runs. */
export function getAggregation(spec: Pick<Spec, 'measurement'> | null): Aggregation {
  const usual = spec !== null && isPairedByTask(spec) ? 'mean' : 'median'
  return spec?.measurement.stability?.aggregation ?? usual
}

/** One missing sample leaves no value (invariant 5). A boolean on which all samples agree stays a boolean. */
export function aggregateSamples(samples: readonly MetricValue[], aggregation: Aggregation): MetricValue {
  const [first] = samples
  const isWord = typeof first === 'boolean' || typeof first === 'string'
  if (isWord && samples.every(sample => sample === first)) return first
  const known = samples.filter(sample => typeof sample === 'number')
  return known.length < samples.length ? null : aggregateValues(known, aggregation)
}

export function computeMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

const AGGREGATES: Readonly<Record<Aggregation, (values: readonly number[]) => number>> = {
  median: computeMedian,
  mean: values => values.reduce((sum, value) => sum + value, 0) / values.length,
  min: values => values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY),
  max: values => values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY),
}

/** Returns null for an empty list and for a result that is not finite. */
export function aggregateValues(values: readonly number[], aggregation: Aggregation): number | null {
  return values.length === 0 ? null : toFinite(AGGREGATES[aggregation](values))
}
