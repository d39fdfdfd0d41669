import { z } from 'zod'
import { digestSchema, type Oid } from './ids.ts'
import { getOwnValue } from './own-value.ts'
import {
  type Aggregation,
  aggregateSamples,
  begunBlockSchema,
  type Execution,
  getNumber,
  type MetricValues,
  type Report,
  reportSchema,
  type Side,
} from './report.ts'
import type { TaskScores } from './tasks.ts'

/** Raw values of one execution for the metrics that can change a verdict; null for a missing value. */
const readingsSchema = z.record(z.string(), z.number().nullable())

/** Base and candidate of one block in one job; null for a side whose execution failed. */
const pairSchema = z.strictObject({
  first: z.enum(['base', 'candidate']),
  base: readingsSchema.nullable(),
  candidate: readingsSchema.nullable(),
  /** Interrupted after it had begun: it shows no effect and counts against keeping (decision 039). */
  lost: z.literal(true).optional(),
  /** The task whose scores these are. */
  task: z.string().optional(),
})
export type Pair = z.infer<typeof pairSchema>

/** The pairs of one candidate from one job: the raw material of all evidence, never a verdict. */
export const pairJobSchema = z.strictObject({
  order: digestSchema,
  /** The machine's boot id, or the sample that models scored. A different value is a fresh runner. */
  runner: z.string(),
  /** Machines that measured its first pairs before an interruption moved it to another machine. */
  also_on: z.array(z.string()).optional(),
  /** The run was lost, and with it the number of begun pairs. Evidence for keeping starts again (decision 039). */
  unreported: z.literal(true).optional(),
  /** All requested pairs were run: the stop rule did not end the job early. */
  complete: z.boolean(),
  pairs: z.array(pairSchema),
})
export type PairJob = z.infer<typeof pairJobSchema>

export function selectReportedJobs(jobs: readonly PairJob[]): PairJob[] {
  return jobs.filter(({ unreported }) => !unreported)
}

/** Collects the values of one side in all jobs, by metric. */
export function collectReadings(
  jobs: readonly PairJob[],
  side: 'base' | 'candidate',
): [name: string, samples: (number | null)[]][] {
  const all = jobs.flatMap(({ pairs }) => pairs.map(one => one[side]).filter(one => one !== null))
  const names = new Set(all.flatMap(each => Object.keys(each)))
  // Of the pairs of one execution's tasks, the first alone has the metrics of the whole execution.
  const read = (name: string) => all.flatMap(each => (Object.hasOwn(each, name) ? [each[name] ?? null] : []))
  return [...names].map(name => [name, read(name)])
}

export function aggregateReadings(
  jobs: readonly PairJob[],
  side: 'base' | 'candidate',
  aggregation: Aggregation,
): MetricValues {
  const readings = collectReadings(jobs, side)
  return Object.fromEntries(readings.map(([name, samples]) => [name, aggregateSamples(samples, aggregation)]))
}

/** The scores of tasks on one side, one entry for each pair of a task. */
export function listTaskReadings(
  jobs: readonly PairJob[],
  side: 'base' | 'candidate',
  primary: string,
): { tasks: TaskScores }[] {
  const pairs = selectReportedJobs(jobs).flatMap(job => job.pairs)
  return pairs.flatMap(pair =>
    pair.task === undefined || pair.base === null
      ? []
      : [{ tasks: { [pair.task]: pair[side]?.[primary] ?? null } }],
  )
}

export interface PairRequest {
  order: string
  /** The primary first. */
  metrics: readonly string[]
  pairs: number
  /** A block has a pair for each task that its executions printed. */
  byTask?: boolean
  /** The pairs that interrupted runs of the same job measured, by candidate. */
  begun?: Readonly<Record<string, PairJob>> | undefined
}

export interface MeasuredRun {
  executions: Report['executions']
  /** The value for `PairJob.runner`. */
  runner: string
  begun?: Report['begun'] | null
}

/**
 * Builds the pairs of one candidate from a report, after the pairs from before an interruption. A side's n-th sample
 * belongs to the n-th block of its run (model/order.ts).
 */
export function buildPairJob(request: PairRequest, measured: MeasuredRun, label: Side): PairJob {
  const { order } = request
  const run = collectPairs(request, measured, label)
  const begun = request.begun?.[label]
  if (begun === undefined)
    return { order, runner: measured.runner, complete: run.length >= request.pairs, pairs: run }
  const pairs = [...begun.pairs, ...run]
  // A machine that completed no pair does not count.
  if (run.every(({ lost }) => lost))
    return { ...begun, order, complete: pairs.length >= request.pairs, pairs }
  const { runner } = measured
  const before = begun.pairs.some(({ lost }) => lost !== true) ? [begun.runner] : []
  const also_on = [...new Set([...(begun.also_on ?? []), ...before])].filter(each => each !== runner)
  const otherMachines = also_on.length === 0 ? {} : { also_on }
  return { order, runner, ...otherMachines, complete: pairs.length >= request.pairs, pairs }
}

/** When the run ended within a block, its pair is lost unless both sides had worked. */
function collectPairs(request: PairRequest, measured: MeasuredRun, label: Side): Pair[] {
  const blocks = collectBlocks(request, measured, label)
  const { begun, executions } = measured
  if (!begun?.sides.includes(label)) return blocks.flat()
  const last = blocks[begun.block]
  if (last?.every(({ base, candidate }) => base !== null && candidate !== null)) return blocks.flat()
  const ran = (side: Side) => listSamples(executions, side).length
  const first = last?.[0]?.first ?? (ran(label) > ran('base') ? 'candidate' : 'base')
  return [...blocks.slice(0, begun.block).flat(), { first, base: null, candidate: null, lost: true }]
}

/** The pairs of each block: one, or one for each task. */
function collectBlocks(request: PairRequest, { executions }: MeasuredRun, label: Side): Pair[][] {
  const base = listSamples(executions, 'base')
  const candidate = listSamples(executions, label)
  return candidate.slice(0, base.length).flatMap((sample, block): Pair[][] => {
    const baseSample = base[block]
    if (baseSample === undefined) return []
    const first = baseSample.at < sample.at ? 'base' : 'candidate'
    const runs = { base: baseSample.run, candidate: sample.run }
    return [request.byTask === true ? pairTasks(request, first, runs) : [pairRuns(request, first, runs)]]
  })
}

type RunPair = Record<'base' | 'candidate', Execution>

function pairRuns({ metrics }: PairRequest, first: Pair['first'], { base, candidate }: RunPair): Pair {
  const task = base.task ?? candidate.task
  return {
    first,
    base: readMetrics(base, metrics),
    candidate: readMetrics(candidate, metrics),
    ...(task === undefined ? {} : { task }),
  }
}

/**
 * One pair for each task of the base, with the score of the task under the primary's name. The other metrics are those
 * of the whole execution, so only the first pair has them. A run that failed is one pair.
 */
function pairTasks(request: PairRequest, first: Pair['first'], runs: RunPair): Pair[] {
  const { base, candidate } = runs
  const whole = pairRuns(request, first, runs)
  const [primary] = request.metrics
  // In an order that does not depend on how the harness printed them: a ledger stores sorted names.
  const tasks = Object.keys(base.tasks ?? {}).toSorted((a, b) => (a < b ? -1 : 1))
  if (primary === undefined || whole.base === null || whole.candidate === null || tasks.length === 0)
    return [whole]
  return tasks.map((task, index) => ({
    first,
    base: { ...(index === 0 ? whole.base : {}), [primary]: getOwnValue(base.tasks, task) ?? null },
    candidate: {
      ...(index === 0 ? whole.candidate : {}),
      [primary]: getOwnValue(candidate.tasks, task) ?? null,
    },
    task,
  }))
}

type PairReport = Pick<Report, 'order' | 'executions' | 'machine' | 'judging' | 'begun'>

/** Models run on no machine that could favour a side, so the next sample of items counts as a fresh runner. */
export function toMeasuredRun({ order, executions, machine, judging, begun }: PairReport): MeasuredRun {
  return { executions, runner: judging === undefined ? machine.boot_id : `sample:${order}`, begun }
}

export function listSamples(executions: readonly Execution[], side: Side): { run: Execution; at: number }[] {
  return executions.flatMap((run, at) => (run.side === side && run.role === 'sample' ? [{ run, at }] : []))
}

/** An execution that lacks a metric has not failed, but it proves nothing about that metric (invariant 5). */
function readMetrics(run: Execution, metrics: readonly string[]): Pair['base'] {
  if (run.status !== 'ok') return null
  return Object.fromEntries(metrics.map(name => [name, getNumber(run.metrics, name)]))
}

// Interrupted runs

/** The runner writes them after every execution, so that a loss keeps them. */
export const partialReportSchema = z.strictObject({
  report: reportSchema,
  /** null between two blocks. */
  begun: begunBlockSchema.nullable(),
})
export type PartialReport = z.infer<typeof partialReportSchema>

/**
 * The point at which an interrupted order continues: with its coins, after the blocks that had begun (decision 039).
 * No pair is drawn a second time.
 */
export const resumptionSchema = z.strictObject({
  order: digestSchema,
  /** The first block of its coins that had not begun. */
  block: z.number().int().nonnegative(),
  /** The pairs that its runs measured, by candidate. */
  pieces: z.record(z.string(), pairJobSchema),
})
type Resumption = z.infer<typeof resumptionSchema>

/**
 * The state of a lost order until it is issued again. `coins` is null when the number of begun blocks is unknown: the
 * next order then draws its own.
 */
export interface Interruption extends Resumption {
  rule: string
  base: Oid
  harness: string
  trees: Record<string, Oid>
  coins: string | null
  earlier_jobs: Record<string, PairJob[]>
  /** The time of the latest loss. `times` counts consecutive losses. */
  at: string
  times: number
}
