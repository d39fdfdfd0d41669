import { z } from 'zod'
import { digest } from './ids.ts'
import type { Execution, Report, Side } from './report.ts'

/** Raw numbers of one execution, of the metrics that can change a verdict; null for one that is not there. */
const readings = z.record(z.string(), z.number().nullable())

/** Base and candidate run in one block of one job; null for a side whose execution failed. */
export const pair = z.strictObject({
  first: z.enum(['base', 'candidate']),
  base: readings.nullable(),
  candidate: readings.nullable(),
})
export type Pair = z.infer<typeof pair>

/** What one job measured of one candidate: the raw material of all evidence, never a verdict on it. */
export const job = z.strictObject({
  order: digest,
  /** The boot id of its machine, or the sample that models scored: another one is a fresh runner. */
  runner: z.string(),
  /** All the pairs it was asked for were run, rather than ended early by the stop rule. */
  complete: z.boolean(),
  pairs: z.array(pair),
})
export type Job = z.infer<typeof job>

export interface Asked {
  order: string
  metrics: readonly string[]
  pairs: number
}

export interface Measured {
  executions: Report['executions']
  /** As a job has it. */
  runner: string
}

/** The pairs of one candidate in a report. A side's n-th sample belongs to block n (model/coins.ts). */
export function jobOf(asked: Asked, measured: Measured, label: Side): Job {
  const { order, metrics, pairs } = asked
  const { executions, runner } = measured
  const base = samplesOf(executions, 'base')
  const candidate = samplesOf(executions, label)
  const run = candidate.slice(0, base.length).flatMap((sample, block): Pair[] => {
    const beside = base[block]
    if (beside === undefined) return []
    const first = beside.at < sample.at ? 'base' : 'candidate'
    return [{ first, base: readingsOf(beside.run, metrics), candidate: readingsOf(sample.run, metrics) }]
  })
  return { order, runner, complete: run.length >= pairs, pairs: run }
}

type Reported = Pick<Report, 'order' | 'executions' | 'machine' | 'judging'>

/** Models have no machine that could favour a side: there the next items are what another machine is elsewhere. */
export function measuredIn({ order, executions, machine, judging }: Reported): Measured {
  return { executions, runner: judging === undefined ? machine.boot_id : `sample:${order}` }
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
