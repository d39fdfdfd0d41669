import { z } from 'zod'
import { type Aggregation, aggregateSamples } from './aggregate.ts'
import { digest } from './ids.ts'
import type { Execution, Report, Side } from './report.ts'

/** Raw numbers of one execution, of the metrics that can change a verdict; null for one that is not there. */
const readings = z.record(z.string(), z.number().nullable())

/** Base and candidate run in one block of one job; null for a side whose execution failed. */
export const pair = z.strictObject({
  first: z.enum(['base', 'candidate']),
  base: readings.nullable(),
  candidate: readings.nullable(),
  /** The run was interrupted after this pair had begun: it shows no effect, and counts against keeping (decision 039). */
  lost: z.literal(true).optional(),
})
export type Pair = z.infer<typeof pair>

/** What one job measured of one candidate: the raw material of all evidence, never a verdict on it. */
export const job = z.strictObject({
  order: digest,
  /** The boot id of its machine, or the sample that models scored: another one is a fresh runner. */
  runner: z.string(),
  /** Machines that measured its first pairs, before it was interrupted and went on elsewhere. */
  also_on: z.array(z.string()).optional(),
  /** The run was lost, and with it how many pairs had begun: evidence for keeping starts again (decision 039). */
  unreported: z.literal(true).optional(),
  /** All the pairs it was asked for were run, rather than ended early by the stop rule. */
  complete: z.boolean(),
  pairs: z.array(pair),
})
export type Job = z.infer<typeof job>

/** Without those of which nothing came back. */
export function reportedJobs(jobs: readonly Job[]): Job[] {
  return jobs.filter(({ unreported }) => !unreported)
}

/** The numbers of one side in all jobs, of the metrics that their pairs have. */
export function readingsInAllJobs(
  jobs: readonly Job[],
  side: 'base' | 'candidate',
): [name: string, samples: (number | null)[]][] {
  const all = jobs.flatMap(({ pairs }) => pairs.map(one => one[side]).filter(one => one !== null))
  const names = new Set(all.flatMap(each => Object.keys(each)))
  return [...names].map(name => [name, all.map(each => each[name] ?? null)])
}

/** Typical numbers of one side over all jobs, of the metrics that their pairs have. */
export function typicalReadings(
  jobs: readonly Job[],
  side: 'base' | 'candidate',
  aggregation: Aggregation,
): Record<string, number | boolean | null> {
  const readings = readingsInAllJobs(jobs, side)
  return Object.fromEntries(readings.map(([name, samples]) => [name, aggregateSamples(samples, aggregation)]))
}

export interface Asked {
  order: string
  metrics: readonly string[]
  pairs: number
  /** The pairs that interrupted runs of the same job measured, by candidate. */
  begun?: Readonly<Record<string, Job>> | undefined
}

export interface Measured {
  executions: Report['executions']
  /** As a job has it. */
  runner: string
  /** The block in which the run ended early. */
  begun?: Report['begun'] | null
}

/**
 * The pairs of one candidate in a report, after those that were measured before the job was interrupted. A side's n-th
 * sample belongs to the n-th block of its run (model/coins.ts).
 */
export function jobOf(asked: Asked, measured: Measured, label: Side): Job {
  const { order } = asked
  const run = pairsIn(asked, measured, label)
  const begun = asked.begun?.[label]
  if (begun === undefined)
    return { order, runner: measured.runner, complete: run.length >= asked.pairs, pairs: run }
  const pairs = [...begun.pairs, ...run]
  // A machine that ran no pair took no part.
  if (run.every(({ lost }) => lost)) return { ...begun, order, complete: pairs.length >= asked.pairs, pairs }
  const { runner } = measured
  const before = begun.pairs.some(({ lost }) => lost !== true) ? [begun.runner] : []
  const also_on = [...new Set([...(begun.also_on ?? []), ...before])].filter(each => each !== runner)
  const elsewhere = also_on.length === 0 ? {} : { also_on }
  return { order, runner, ...elsewhere, complete: pairs.length >= asked.pairs, pairs }
}

/** Where the run ended within a block, the pair in it is lost unless both of its sides had worked. */
function pairsIn(asked: Asked, measured: Measured, label: Side): Pair[] {
  const pairs = pairsRun(asked, measured, label)
  const { begun, executions } = measured
  if (!begun?.sides.includes(label)) return pairs
  const last = pairs[begun.block]
  if (last !== undefined && last.base !== null && last.candidate !== null) return pairs
  const ran = (side: Side) => samplesOf(executions, side).length
  const first = last?.first ?? (ran(label) > ran('base') ? 'candidate' : 'base')
  return [...pairs.slice(0, begun.block), { first, base: null, candidate: null, lost: true }]
}

function pairsRun({ metrics }: Asked, { executions }: Measured, label: Side): Pair[] {
  const base = samplesOf(executions, 'base')
  const candidate = samplesOf(executions, label)
  return candidate.slice(0, base.length).flatMap((sample, block): Pair[] => {
    const beside = base[block]
    if (beside === undefined) return []
    const first = beside.at < sample.at ? 'base' : 'candidate'
    return [{ first, base: readingsOf(beside.run, metrics), candidate: readingsOf(sample.run, metrics) }]
  })
}

type Reported = Pick<Report, 'order' | 'executions' | 'machine' | 'judging' | 'begun'>

/** Models have no machine that could favour a side: there the next items are what another machine is elsewhere. */
export function measuredIn({ order, executions, machine, judging, begun }: Reported): Measured {
  return { executions, runner: judging === undefined ? machine.boot_id : `sample:${order}`, begun }
}

interface Sample {
  run: Execution
  at: number
}

function samplesOf(executions: readonly Execution[], side: Side): Sample[] {
  return executions.flatMap((run, at) => (run.side === side && run.role === 'sample' ? [{ run, at }] : []))
}

/** A run that did not print a metric is not a failed run, but says nothing about that metric (invariant 5). */
function readingsOf(run: Execution, metrics: readonly string[]): Pair['base'] {
  if (run.status !== 'ok') return null
  return Object.fromEntries(metrics.map(name => [name, finite(run.metrics[name])]))
}

function finite(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
