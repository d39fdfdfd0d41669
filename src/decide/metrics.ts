import { collectReadings, listTaskReadings, type PairJob } from '../model/pairs.ts'
import {
  aggregateSamples,
  aggregateTasks,
  aggregateValues,
  type Aggregation,
  type Execution,
  getAggregation,
  type MetricValue,
  type Report,
  type Side,
  type Snapshot,
  toFinite,
} from '../model/report.ts'
import { computeTaskMeans, isPairedByTask } from '../model/tasks.ts'
import { type GateOperator, parseGateCheck } from '../spec/schema-values.ts'
import type { Spec } from '../spec/schema.ts'
import { DEFAULT_EFFECT } from '../spec/spec-facts.ts'
import type { ScoreTerms } from './evidence/interval.ts'
import { listTieBreakers } from './tie-breakers.ts'

export type ObjectiveDirection = Spec['metric']['primary']['direction']
export type MaxRegression = NonNullable<Spec['metric']['objectives'][number]['max_regression']>

/** A metric that can make or break a verdict: the primary, every required objective, every guardrail. */
export type Objective = {
  name: string
  direction: ObjectiveDirection
  role: 'required' | 'guardrail'
  judged: boolean
  target: number | null
  maxRegression: MaxRegression | null
}

// Objectives

/** The primary comes first; an entry under its name fills what it leaves unset, unless it is `secondary`. */
export function listObjectives(
  metric: Pick<Spec['metric'], 'primary' | 'objectives'>,
): [Objective, ...Objective[]] {
  const { primary } = metric
  const listed = metric.objectives.find(entry => entry.name === primary.name && entry.role !== 'secondary')
  const others = metric.objectives.flatMap(
    ({ name, direction, role, target, max_regression }): Objective[] => {
      if (name === primary.name || role === 'secondary') return []
      return [{ name, direction, role, judged: false, target, maxRegression: max_regression }]
    },
  )
  const first: Objective = {
    name: primary.name,
    direction: primary.direction,
    role: 'required',
    judged: primary.type === 'judge',
    target: primary.target ?? listed?.target ?? null,
    maxRegression: listed?.max_regression ?? null,
  }
  return [first, ...others]
}

/** Null for an objective of which whole executions are measured: neither scores of items nor of tasks. */
export function getScoreTerms(
  spec: Pick<Spec, 'metric' | 'measurement' | 'evidence'>,
  { judged, name }: Objective,
): ScoreTerms | null {
  const { judge, primary } = spec.metric
  if (judged) return judge === null ? null : { minEffect: judge.minimum_improvement || Number.MIN_VALUE }
  if (name !== primary.name || !isPairedByTask(spec)) return null
  return { minEffect: spec.evidence.min_effect ?? DEFAULT_EFFECT }
}

/** Positive is always better. */
export function computeSignedDelta(base: number, candidate: number, direction: ObjectiveDirection): number {
  return direction === 'minimize' ? base - candidate : candidate - base
}

/** Gain as a fraction of the base; 0 for a base of 0, and always finite, so that it can be stored. */
export function computeRelativeGain(delta: number, base: number): number {
  if (base === 0) return 0
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, delta / Math.abs(base)))
}

// Executions and their snapshot

export type ReportExecutions = Pick<Report, 'executions'>
type AggregatedSamples = { aggregate: MetricValue; samples: MetricValue[] }

export function listExecutions(
  { executions }: ReportExecutions,
  side: Side,
  ...roles: Execution['role'][]
): Execution[] {
  const own = executions.filter(execution => execution.side === side)
  return roles.length === 0 ? own : own.filter(({ role }) => roles.includes(role))
}

/** Null when the execution failed, did not print the metric, or printed no finite number. */
export function readNumber(execution: Execution, name: string): number | null {
  return toFinite(readGateValue(execution, name))
}

/** Like `readNumber`, but accepts booleans, which gates may check, and text, which `== base` compares. */
export function readGateValue(execution: Execution, name: string): MetricValue {
  if (execution.status !== 'ok' || !Object.hasOwn(execution.metrics, name)) return null
  const value = execution.metrics[name]
  return typeof value === 'boolean' || typeof value === 'string' ? value : toFinite(value)
}

/** A metric's value on both sides; null unless both have one. */
export type ValuePair = { base: number; candidate: number }

export function readValuePair(name: string, base: Execution, candidate: Execution): ValuePair | null {
  const [before, after] = [readNumber(base, name), readNumber(candidate, name)]
  if (before === null || after === null || !Number.isFinite(before - after)) return null
  return { base: before, candidate: after }
}

/**
 * Returns the value that a gate checks. Under ce stability it is the aggregate of the samples, as in
 * ce-optimize. Under winnow's own modes a gate must hold in every execution, so the first failing value
 * represents all (invariant 5). One missing value leaves none.
 */
export function readGate(
  spec: Spec,
  executions: readonly Execution[],
  { name, check }: Spec['metric']['degenerate_gates'][number],
): MetricValue {
  const read = executions.map(execution => readGateValue(execution, name))
  if (read.some(value => value === null)) return null
  if (parseGateCheck(check)?.value === 'base') return read.at(-1) ?? null
  if (!isGateAggregated(spec)) return read.find(value => !isGatePassed(value, check)) ?? read.at(-1) ?? null
  const same = read.every(value => value === read[0])
  return same ? (read[0] ?? null) : aggregateSamples(read.map(toGateValue), getAggregation(spec))
}

export function isGateAggregated({ measurement }: Pick<Spec, 'measurement'>): boolean {
  return measurement.stability !== null
}

export function buildSnapshot(spec: Spec, report: ReportExecutions, side: Side): Snapshot {
  const samples = listExecutions(report, side, 'sample')
  const objectives = new Set(listObjectives(spec.metric).map(objective => objective.name))
  const watched = new Set(spec.metric.diagnostics.map(diagnostic => diagnostic.name))
  const metrics: [string, AggregatedSamples][] = []
  const diagnostics: [string, AggregatedSamples][] = []
  const names = new Set(samples.flatMap(sample => Object.keys(sample.metrics)))
  for (const name of [...names].toSorted()) {
    const target = watched.has(name) && !objectives.has(name) ? diagnostics : metrics
    // Samples keep their order and their gaps: one missing sample leaves no aggregate (invariant 5).
    const values = samples.map(sample => readGateValue(sample, name))
    target.push([name, { aggregate: aggregateSamples(values, getAggregation(spec)), samples: values }])
  }
  const all = listExecutions(report, side)
  const tasks = aggregateTasks(report, side)
  const smoke = listExecutions(report, side, 'smoke')
  return {
    gates: Object.fromEntries(
      spec.metric.degenerate_gates.map(gate => [gate.name, readGate(spec, samples, gate)]),
    ),
    metrics: Object.fromEntries(metrics),
    diagnostics: Object.fromEntries(diagnostics),
    smoke_passed: smoke.length === 0 ? null : smoke.every(run => run.status === 'ok'),
    sample_count: samples.length,
    elapsed_seconds: all.reduce((sum, execution) => sum + execution.wall_seconds, 0),
    ...(tasks === undefined ? {} : { tasks }),
  }
}

/** Replaces the numbers of the last job by the candidate's numbers in all jobs that decided. */
export function mergeJobsIntoSnapshot(
  last: Snapshot,
  jobs: readonly PairJob[],
  { aggregation, primary }: { aggregation: Aggregation; primary: string },
): Snapshot {
  const { metrics = {}, diagnostics = {} } = last
  const changed = { metrics: { ...metrics }, diagnostics: { ...diagnostics } }
  const readings = collectReadings(jobs, 'candidate')
  for (const [name, samples] of readings) {
    const target = Object.hasOwn(diagnostics, name) ? changed.diagnostics : changed.metrics
    target[name] = { aggregate: aggregateSamples(samples, aggregation), samples }
  }
  const count = Math.max(last.sample_count ?? 0, ...readings.map(([, samples]) => samples.length))
  const tasks = listTaskReadings(jobs, 'candidate', primary)
  const known = tasks.length === 0 ? {} : { tasks: computeTaskMeans(tasks) }
  return { ...last, ...changed, sample_count: count, ...known }
}

// Readings of a snapshot

/** Invariant 5: anything but finite numbers is `null`, missing. */
export type MetricReading = { value: number; samples: readonly number[] }

const HARD_ORDER = ['metrics', 'judge', 'diagnostics', 'gates'] as const
const JUDGE_ORDER = ['judge', 'metrics', 'diagnostics', 'gates'] as const

/** Gates may be booleans: true counts as 1, false as 0. */
function toGateValue(raw: unknown): number | null {
  return typeof raw === 'boolean' ? Number(raw) : toFinite(raw)
}

/** Every sample of the metric, or its one value. Booleans are legal here, as in gates. */
export function listConstraintValues(snapshot: Snapshot, name: string): unknown[] {
  const raw = findRawValue(snapshot, name, HARD_ORDER) ?? null
  if (!isRecord(raw)) return [raw]
  const { samples, aggregate: value } = raw
  return Array.isArray(samples) && samples.length > 0 ? samples : [value]
}

function isRecord(raw: unknown): raw is Record<string, unknown> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw)
}

function readFiniteSamples(raw: unknown): number[] | null {
  if (raw === undefined || raw === null) return []
  if (!Array.isArray(raw)) return null
  const samples = raw.map(toFinite)
  return samples.every(sample => sample !== null) ? samples : null
}

function readMetric(raw: unknown, aggregation: Aggregation): MetricReading | null {
  if (!isRecord(raw)) {
    const value = toFinite(raw)
    return value === null ? null : { value, samples: [] }
  }
  const samples = readFiniteSamples(raw['samples'])
  if (samples === null) return null
  const value = samples.length > 0 ? aggregateValues(samples, aggregation) : toFinite(raw['aggregate'])
  return value === null ? null : { value, samples }
}

/** The first section that names the metric is used, even if it holds no number. */
export function lookUpMetric(
  snapshot: Snapshot,
  name: string,
  options: { judged: boolean; aggregation: Aggregation },
): MetricReading | null {
  const raw = findRawValue(snapshot, name, options.judged ? JUDGE_ORDER : HARD_ORDER)
  return raw === undefined ? null : readMetric(raw, options.aggregation)
}

function findRawValue(
  snapshot: Snapshot,
  name: string,
  sections: readonly (typeof HARD_ORDER)[number][],
): unknown {
  const values = sections.map(section => snapshot[section] ?? {})
  return values
    .map(each => (Object.hasOwn(each, name) ? each[name] : undefined))
    .find(raw => raw !== undefined)
}

// Gates and constraints

type Constraint = Spec['metric']['constraints'][number]

function isBoundHeld(value: number, operator: GateOperator, bound: number): boolean {
  switch (operator) {
    case '>=':
      return value >= bound
    case '<=':
      return value <= bound
    case '>':
      return value > bound
    case '<':
      return value < bound
    case '==':
      return value === bound
    case '!=':
      return value !== bound
    default:
      return operator satisfies never
  }
}

/** Only a readable check and a finite value pass (invariant 5). */
export function isGatePassed(raw: unknown, check: string): boolean {
  const wanted = parseGateCheck(check)
  // Whether it equals the base's value is judged with the base at hand (same-answers.ts).
  if (wanted?.value === 'base') return typeof raw === 'string' || toGateValue(raw) !== null
  const value = toGateValue(raw)
  return wanted !== undefined && value !== null && isBoundHeld(value, wanted.op, Number(wanted.value))
}

export function isConstraintMet(constraint: Constraint, raw: unknown): boolean {
  if (typeof raw === 'boolean' && typeof constraint.value === 'number') return false
  const value = toGateValue(raw)
  return value !== null && isBoundHeld(value, constraint.op, Number(constraint.value))
}

export function formatConstraint(constraint: Constraint): string {
  return `${constraint.metric} ${constraint.op} ${String(constraint.value)}`
}

// Names of metrics

/** Every metric whose value can change a verdict, and so must repeat exactly. */
export function listDecisiveMetrics(spec: Pick<Spec, 'metric' | 'policy'>): string[] {
  const objectives = listObjectives(spec.metric).map(objective => objective.name)
  return [...new Set([...objectives, ...listTieBreakers(spec.policy).map(tie => tie.name)])]
}

export interface AbsentMetric {
  name: string
  key: string
  /** Printed, but as NaN, infinite or null. */
  printed: boolean
}

/** Invariant 5, checked before it costs a campaign: all keys of the spec against all printed metrics. */
export function findAbsentMetrics(spec: Spec, executions: readonly Execution[]): AbsentMetric[] {
  const runs = executions.filter(({ status, role }) => status === 'ok' && role !== 'smoke')
  if (runs.length === 0) return []
  const found = new Map<string, AbsentMetric>()
  for (const { name, key } of listSpecMetrics(spec)) {
    if (found.has(name) || runs.some(run => readGateValue(run, name) !== null)) continue
    found.set(name, { name, key, printed: runs.some(run => Object.hasOwn(run.metrics, name)) })
  }
  return [...found.values()]
}

function listSpecMetrics({ metric, policy }: Spec): { name: string; key: string }[] {
  return [
    ...(metric.primary.type === 'hard' ? [{ name: metric.primary.name, key: 'metric.primary' }] : []),
    ...metric.objectives.map(({ name }) => ({ name, key: 'metric.objectives' })),
    ...metric.degenerate_gates.map(({ name }) => ({ name, key: 'metric.degenerate_gates' })),
    ...metric.constraints.map(({ metric: name }) => ({ name, key: 'metric.constraints' })),
    ...metric.diagnostics.map(({ name }) => ({ name, key: 'metric.diagnostics' })),
    ...listTieBreakers(policy).map(({ name }) => ({ name, key: 'policy.tie_breakers' })),
  ]
}

export function listPrintedNames(executions: readonly Execution[], builtIn: ReadonlySet<string>): string[] {
  const names = new Set(executions.flatMap(({ metrics }) => Object.keys(metrics)))
  return [...names].filter(name => !builtIn.has(name))
}
