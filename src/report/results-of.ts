import { isConstraintMet, formatConstraint, isGatePassed } from '../decide/gates.ts'
import { type Objective, listObjectives, computeSignedDelta } from '../decide/objectives.ts'
import { isGateAggregated, listExecutions, readGate, readGateValue } from '../decide/readings.ts'
import { listTieBreakers } from '../decide/tie-breakers.ts'
import { aggregateValues, aggregateSamples, getAggregation } from '../model/aggregate.ts'
import { toCanonicalJson, hashSha256 } from '../model/canonical.ts'
import type { Experiment } from '../model/experiment.ts'
import { findFailedPart } from '../model/failed-part.ts'
import { countReportMinutes } from '../model/job-minutes.ts'
import { type Outcome, type VerdictWord, toVerdictWord } from '../model/outcome.ts'
import { parseReason } from '../model/reason.ts'
import type { Execution, MetricValue } from '../model/report.ts'
import { aggregateSnapshot } from '../model/snapshot.ts'
import type { Spec } from '../spec/schema.ts'
import type { ExperimentRecord, RecordedMeasurement } from './experiment-record.ts'
import { computePairedNumbers } from './measured-effect.ts'
import {
  type GateResult,
  type MetricResult,
  MOST_METRICS,
  MOST_PATHS,
  MOST_SAMPLES,
  type Results,
  type Samples,
} from './results.ts'
import { renderStateSentence } from './sentence.ts'

/** How it ends, where an event that says so is about to be written. */
export interface ExperimentEnding {
  outcome: Outcome
  reason: string
}

/** One path that the candidate changes, as git's diff has it. */
export interface ChangedPath {
  status: string
  path: string
  added: number | null
  deleted: number | null
}

export interface ResultsInput {
  spec: string
  experiment: Experiment
  record: ExperimentRecord
  /** null: it has not ended. */
  ending: ExperimentEnding | null
  /** null: its commits are not at hand. */
  diff: readonly ChangedPath[] | null
}

/** The results of one experiment: a pure function of its events and of its diff. */
export function buildResults({ spec, experiment, record, ending, diff }: ResultsInput): Results {
  const { decided, decisive } = record
  const last = decisive.at(-1) ?? null
  const { id, hypothesis, category, source, learnings, pull, branch, head } = experiment
  const verdict = toEndVerdict(record, ending)
  const reason = parseReason(ending?.reason ?? decided?.reason ?? experiment.reason ?? '')
  const said = { status: experiment.status, verdict, outcome: ending?.outcome ?? experiment.outcome }
  const values = last === null ? null : buildMetricResults(record, last)
  const tree = last?.order.candidates.find(({ label }) => label === id)
  return {
    summary: renderStateSentence({ ...said, reason: reason.sentence }),
    spec,
    spec_sha256: last?.order.spec_sha256 ?? null,
    experiment: id,
    hypothesis,
    category,
    proposed_by: source.use,
    verdict,
    outcome: ending?.outcome ?? decided?.outcome ?? null,
    failure_class: decided?.failure_class ?? null,
    reason: reason.sentence,
    rule_version: decided?.rule_version ?? null,
    decided_at: decided?.at ?? null,
    ...buildEffectResult(record, values?.metrics ?? {}),
    improved: decided?.improved ?? [],
    violated: decided?.violated ?? [],
    warnings: decided?.warnings ?? [],
    metrics: values?.metrics ?? {},
    metrics_left_out: values?.leftOut ?? 0,
    gates: buildGateResults(record),
    failed: last === null ? null : findFailedPart(last.report, id),
    base: last === null ? null : { commit: last.order.base.commit, tree: last.order.base.tree },
    candidate: tree === undefined ? null : { commit: head ?? tree.head, tree: tree.tree, branch },
    harness: last?.order.harness ?? null,
    diff: diff === null ? null : buildDiffResult(diff),
    ...collectMachinesAndCost(record),
    links: {
      pull_request: pull,
      orders: decisive.map(({ order }) => order.id),
      runs: [...new Set(decisive.map(({ report }) => report.run_id))],
    },
    learnings,
  }
}

/** A runner-up's own word for harm stays with its decision; what ends without one has the word of its outcome. */
function toEndVerdict({ decided }: ExperimentRecord, ending: ExperimentEnding | null): VerdictWord | null {
  if (decided !== null && (ending === null || decided.outcome === ending.outcome)) return decided.verdict
  return ending === null ? null : toVerdictWord(ending.outcome, false)
}

function buildEffectResult(
  { story, decisive }: ExperimentRecord,
  metrics: Results['metrics'],
): Pick<Results, 'effect' | 'evidence'> {
  const spec = decisive.at(-1)?.spec ?? null
  if (spec === null) return { effect: null, evidence: null }
  const [{ name, direction }] = listObjectives(spec.metric)
  const measured = { metric: name, direction }
  if (story !== null) {
    const { effect, interval, evidence } = computePairedNumbers(story)
    const scale = story.rule.scale
    const pairs = story.jobs.flatMap(job => job.pairs).length
    const range = interval === null ? null : ([...interval] as [number, number])
    return {
      effect: effect === null ? null : { ...measured, scale, value: effect, interval: range, pairs },
      evidence,
    }
  }
  const { base, candidate } = metrics[name] ?? {}
  if (typeof base !== 'number' || typeof candidate !== 'number') return { effect: null, evidence: null }
  const value = computeSignedDelta(base, candidate, direction)
  return { effect: { ...measured, scale: 'linear', value, interval: null, pairs: 0 }, evidence: null }
}

function buildMetricResults(
  record: ExperimentRecord,
  last: RecordedMeasurement,
): { metrics: Results['metrics']; leftOut: number } {
  const runs = { base: record.executions('base'), candidate: record.executions('candidate') }
  const stored = last.order.stop.rule === 'stability' ? last.order.stop.baseline : null
  const baseline = aggregateSnapshot(stored)
  const aggregation = getAggregation(last.spec)
  const found = [...runs.base, ...runs.candidate].flatMap(({ metrics }) => Object.keys(metrics))
  const named = last.spec === null ? [] : listJudgedMetrics(last.spec)
  const printed = [...new Set([...found, ...Object.keys(baseline)])]
  const chosen = [
    ...named.filter(name => printed.includes(name)),
    ...printed.filter(name => !named.includes(name)).slice(0, MOST_METRICS),
  ]
  const resultOf = (name: string): MetricResult => {
    const base = collectSamples(runs.base, name)
    const candidate = collectSamples(runs.candidate, name)
    return {
      base: base.length === 0 ? (baseline[name] ?? null) : aggregateSamples(base, aggregation),
      candidate: aggregateSamples(candidate, aggregation),
      samples: { base: limitSamples(base), candidate: limitSamples(candidate) },
    }
  }
  const metrics = Object.fromEntries(chosen.map(name => [name, resultOf(name)]))
  return { metrics, leftOut: printed.length - chosen.length }
}

/** Every metric that the spec gives a part in the verdict, the primary first. */
function listJudgedMetrics({ metric, policy }: Spec): string[] {
  const objectives: Pick<Objective, 'name'>[] = listObjectives(metric)
  const others = [...listTieBreakers(policy), ...metric.degenerate_gates]
  const constrained = metric.constraints.map(each => each.metric)
  return [...new Set([...[...objectives, ...others].map(({ name }) => name), ...constrained])]
}

function collectSamples(runs: readonly Execution[], name: string): MetricValue[] {
  return runs.map(run => readGateValue(run, name))
}

function limitSamples(samples: readonly MetricValue[]): Samples {
  if (samples.length <= MOST_SAMPLES) return [...samples]
  const numbers = samples.filter(sample => typeof sample === 'number')
  return {
    count: samples.length,
    sha256: hashSha256(toCanonicalJson(samples)),
    min: aggregateValues(numbers, 'min'),
    max: aggregateValues(numbers, 'max'),
  }
}

function buildGateResults({ id, decisive }: ExperimentRecord): GateResult[] {
  const last = decisive.at(-1)
  if (last === undefined || last.spec === null) return []
  const { spec } = last
  const { gates, metric } = spec
  const runs = decisive.flatMap(({ report }) => report.gates.filter(({ side }) => side === id))
  const counted = decisive.flatMap(({ report }) =>
    listExecutions(report, id, 'sample', 'repeat').filter(({ status }) => status === 'ok'),
  )
  const commands = gates.map(({ name }): GateResult => {
    const own = runs.filter(run => run.name === name)
    const run = own.find(({ passed }) => !passed) ?? own.at(-1)
    if (run === undefined) return { name, kind: 'command', passed: null }
    const { passed, exit_code, timed_out, seconds } = run
    return { name, kind: 'command', passed, exit_code, timed_out, seconds }
  })
  const held = isGateAggregated(spec) ? listExecutions(last.report, id, 'sample') : counted
  const bounds = metric.degenerate_gates.map((gate): GateResult => {
    const value = readGate(spec, held, gate)
    const passed = held.length === 0 ? null : isGatePassed(value, gate.check)
    return { name: gate.name, kind: 'metric', check: gate.check, passed, value }
  })
  const constraints = metric.constraints.map((constraint): GateResult => {
    const values = collectSamples(counted, constraint.metric)
    const failing = values.findIndex(value => !isConstraintMet(constraint, value))
    const value = (failing === -1 ? values.at(-1) : values[failing]) ?? null
    const passed = values.length === 0 ? null : failing === -1
    return { name: constraint.metric, kind: 'constraint', check: formatConstraint(constraint), passed, value }
  })
  return [...commands, ...bounds, ...constraints]
}

function buildDiffResult(diff: readonly ChangedPath[]): NonNullable<Results['diff']> {
  const sum = (which: 'added' | 'deleted') => diff.reduce((all, entry) => all + (entry[which] ?? 0), 0)
  return {
    files: diff.length,
    added: sum('added'),
    deleted: sum('deleted'),
    paths: diff.slice(0, MOST_PATHS).map(({ status, path }) => `${status} ${path}`),
  }
}

function collectMachinesAndCost({
  measurements,
}: ExperimentRecord): Pick<Results, 'machines' | 'flags' | 'cost'> {
  const machines = new Map<string, Results['machines'][number]>()
  const cost = { minutes: 0, executions: 0, judge_requests: 0, judge_tokens: 0, judge_usd: 0 }
  for (const { report } of measurements) {
    const { os, kernel, cpu_model, cores, memory_mb, image } = report.machine
    const machine = { os, kernel, cpu_model, cores, memory_mb, image }
    machines.set(toCanonicalJson(machine), machine)
    cost.minutes += countReportMinutes(report)
    cost.executions += report.executions.length
    cost.judge_requests += report.judging?.requests ?? 0
    cost.judge_tokens += report.judging?.tokens ?? 0
    cost.judge_usd += report.judging?.usd ?? 0
  }
  const flags = [...new Set(measurements.flatMap(({ report }) => report.flags))]
  return { machines: [...machines.values()], flags, cost }
}
