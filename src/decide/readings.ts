import { type Aggregation, aggregateSamples, getAggregation } from '../model/aggregate.ts'
import { type PairJob, collectReadings } from '../model/pairs.ts'
import type { Execution, Report, Side } from '../model/report.ts'
import type { Snapshot } from '../model/snapshot.ts'
import type { Spec } from '../spec/schema.ts'
import { isGatePassed } from './gates.ts'
import { toFinite, toGateValue } from './lookup.ts'
import { listObjectives } from './objectives.ts'

export type ReportExecutions = Pick<Report, 'executions'>
type AggregatedSamples = { aggregate: number | boolean | null; samples: (number | boolean | null)[] }

export function listExecutions(
  report: ReportExecutions,
  side: Side,
  ...roles: Execution['role'][]
): Execution[] {
  return report.executions.filter(
    execution => execution.side === side && (roles.length === 0 || roles.includes(execution.role)),
  )
}

/** A metric of one execution; null when it failed, did not print it, or printed no finite number. */
export function readNumber(execution: Execution, name: string): number | null {
  return toFinite(readGateValue(execution, name))
}

/** The values that a gate reads, booleans included; null as above. */
export function readGateValue(execution: Execution, name: string): number | boolean | null {
  if (execution.status !== 'ok' || !Object.hasOwn(execution.metrics, name)) return null
  const value = execution.metrics[name]
  return typeof value === 'boolean' ? value : toFinite(value)
}

/** A metric's value on both sides; null unless both have one. */
export type ValuePair = { base: number; candidate: number }

export function readValuePair(name: string, base: Execution, candidate: Execution): ValuePair | null {
  const ours = readNumber(base, name)
  const theirs = readNumber(candidate, name)
  if (ours === null || theirs === null || !Number.isFinite(ours - theirs)) return null
  return { base: ours, candidate: theirs }
}

/** Samples keep their order and their gaps: one missing sample leaves no aggregate (invariant 5). */
function aggregateMetric(spec: Spec, samples: readonly Execution[], name: string): AggregatedSamples {
  const values = samples.map(sample => readGateValue(sample, name))
  return { aggregate: aggregateSamples(values, getAggregation(spec)), samples: values }
}

/**
 * Returns the values that a gate checks. Under ce stability it is the aggregate of the samples, as ce-optimize does; under winnow's
 * own modes a gate must hold in every execution, so that the first value that fails it stands for all (invariant 5).
 * One missing value leaves none.
 */
export function readGate(
  spec: Spec,
  executions: readonly Execution[],
  { name, check }: Spec['metric']['degenerate_gates'][number],
): number | boolean | null {
  const read = executions.map(execution => readGateValue(execution, name))
  if (read.some(value => value === null)) return null
  if (!isGateAggregated(spec)) return read.find(value => !isGatePassed(value, check)) ?? read.at(-1) ?? null
  const same = read.every(value => value === read[0])
  return same ? (read[0] ?? null) : aggregateSamples(read.map(toGateValue), getAggregation(spec))
}

export function isGateAggregated({ measurement }: Pick<Spec, 'measurement'>): boolean {
  return measurement.stability !== null
}

function readGates(spec: Spec, samples: readonly Execution[]): Record<string, number | boolean | null> {
  return Object.fromEntries(
    spec.metric.degenerate_gates.map(gate => [gate.name, readGate(spec, samples, gate)]),
  )
}

function isSmokePassed(runs: readonly Execution[]): boolean | null {
  return runs.length === 0 ? null : runs.every(run => run.status === 'ok')
}

function listMetricNames(samples: readonly Execution[]): string[] {
  return [...new Set(samples.flatMap(sample => Object.keys(sample.metrics)))].toSorted()
}

/** One side's numbers out of a report, as `winnow decide` takes them. */
export function buildSnapshot(spec: Spec, report: ReportExecutions, side: Side): Snapshot {
  const samples = listExecutions(report, side, 'sample')
  const objectives = new Set(listObjectives(spec.metric).map(objective => objective.name))
  const watched = new Set(spec.metric.diagnostics.map(diagnostic => diagnostic.name))
  const metrics: [string, AggregatedSamples][] = []
  const diagnostics: [string, AggregatedSamples][] = []
  for (const name of listMetricNames(samples)) {
    const target = watched.has(name) && !objectives.has(name) ? diagnostics : metrics
    target.push([name, aggregateMetric(spec, samples, name)])
  }
  const all = listExecutions(report, side)
  return {
    gates: readGates(spec, samples),
    metrics: Object.fromEntries(metrics),
    diagnostics: Object.fromEntries(diagnostics),
    smoke_passed: isSmokePassed(listExecutions(report, side, 'smoke')),
    sample_count: samples.length,
    elapsed_seconds: all.reduce((sum, execution) => sum + execution.wall_seconds, 0),
  }
}

/** The candidate's numbers in all jobs that decided, in place of those of the last one. */
export function mergeJobsIntoSnapshot(
  last: Snapshot,
  jobs: readonly PairJob[],
  aggregation: Aggregation,
): Snapshot {
  const { metrics = {}, diagnostics = {} } = last
  const changed = { metrics: { ...metrics }, diagnostics: { ...diagnostics } }
  const readings = collectReadings(jobs, 'candidate')
  for (const [name, samples] of readings) {
    const target = Object.hasOwn(diagnostics, name) ? changed.diagnostics : changed.metrics
    target[name] = { aggregate: aggregateSamples(samples, aggregation), samples }
  }
  const count = Math.max(last.sample_count ?? 0, ...readings.map(([, samples]) => samples.length))
  return { ...last, ...changed, sample_count: count }
}
