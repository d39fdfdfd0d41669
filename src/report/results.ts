import { stringify } from 'yaml'
import { z } from 'zod'
import {
  computeSignedDelta,
  formatConstraint,
  isConstraintMet,
  isGateAggregated,
  isGatePassed,
  listExecutions,
  listObjectives,
  readGate,
  readGateValue,
} from '../decide/metrics.ts'
import { listTieBreakers } from '../decide/tie-breakers.ts'
import { roundNumbers } from '../decide/wording.ts'
import { hashSha256, toCanonicalJson } from '../model/canonical-json.ts'
import type { Experiment } from '../model/experiment.ts'
import { countReportMinutes } from '../model/fold/counters.ts'
import { pointSchema } from '../model/ids.ts'
import { getOwnValue } from '../model/own-value.ts'
import {
  aggregateSamples,
  aggregateSnapshot,
  aggregateValues,
  type Execution,
  failedOutputSchema,
  findFailedPart,
  getAggregation,
  machineSchema,
  type MetricValue,
} from '../model/report.ts'
import { parseReason } from '../model/text.ts'
import {
  type Outcome,
  outcomeSchema,
  toVerdictWord,
  type VerdictWord,
  verdictWordSchema,
} from '../model/verdict.ts'
import type { Spec } from '../spec/schema.ts'
import { buildDiffSummary, type ChangedPath, diffSummarySchema } from './diff-summary.ts'
import type { ExperimentRecord, RecordedMeasurement } from './experiment.ts'
import { collectTaskResults } from './tasks.ts'
import { computePairedNumbers, renderStateSentence } from './verdict-text.ts'

// Schema

/** Longer sample lists of one side are stored as a digest. */
export const MOST_SAMPLES = 60
/** Further metrics are counted and left out. Metrics that the spec names are always included. */
export const MOST_METRICS = 60
const MOST_TASKS = 200

const value = z.union([z.number(), z.boolean(), z.string(), z.null()])

/** In order of measurement. The digest covers their canonical JSON, as stored in the ledger's reports. */
const samples = z.union([
  z.array(value),
  z.strictObject({
    count: z.number().int(),
    sha256: z.string(),
    min: z.number().nullable(),
    max: z.number().nullable(),
  }),
])
type Samples = z.infer<typeof samples>

const shownMachineSchema = machineSchema.omit({ boot_id: true, hostname_sha256: true, node: true })

const metric = z.strictObject({
  /** Aggregated like the verdict. */
  base: value,
  candidate: value,
  /** Absent when the base is a stored score. */
  samples: z.strictObject({ base: samples, candidate: samples }),
})
type MetricResult = z.infer<typeof metric>

const gate = z.strictObject({
  name: z.string(),
  /** command: an exit code. metric: a check on a metric. constraint: a bound on a metric. */
  kind: z.enum(['command', 'metric', 'constraint']),
  /** Null: the gate did not run. */
  passed: z.boolean().nullable(),
  check: z.string().optional(),
  value: value.optional(),
  exit_code: z.number().int().nullable().optional(),
  timed_out: z.boolean().optional(),
  seconds: z.number().optional(),
})
type GateResult = z.infer<typeof gate>

const score = z.number().nullable()

const task = z.strictObject({
  task: z.string(),
  direction: z.enum(['minimize', 'maximize']),
  base: score,
  candidate: score,
  runs: z.number().int(),
  parts: z.record(z.string(), z.strictObject({ base: score, candidate: score })).optional(),
})

/**
 * The complete, self-contained record of one experiment: the file results.yaml and the output of `winnow
 * results`. Times are in UTC. A positive effect means that the candidate is better.
 */
export const resultsSchema = z.strictObject({
  summary: z.string(),
  spec: z.string(),
  spec_sha256: z.string().nullable(),
  experiment: z.string(),
  hypothesis: z.string(),
  category: z.string(),
  proposed_by: z.string(),
  verdict: verdictWordSchema.nullable(),
  outcome: outcomeSchema.nullable(),
  failure_class: z.enum(['build', 'eval', 'hypothesis']).nullable(),
  reason: z.string(),
  rule_version: z.string().nullable(),
  decided_at: z.string().nullable(),
  effect: z
    .strictObject({
      metric: z.string(),
      direction: z.enum(['minimize', 'maximize']),
      /** log: a difference of natural logarithms. linear: in the metric's unit. */
      scale: z.enum(['log', 'linear']),
      /** Positive is better. */
      value: z.number(),
      interval: z.tuple([z.number(), z.number()]).nullable(),
      /** 0 if it was not compared in pairs. */
      pairs: z.number().int(),
    })
    .nullable(),
  /** `needed`: the evidence that keeping requires. */
  evidence: z.strictObject({ reached: z.number(), needed: z.number() }).nullable(),
  improved: z.array(z.string()),
  violated: z.array(z.string()),
  warnings: z.array(z.string()),
  /** The primary first. */
  metrics: z.record(z.string(), metric),
  metrics_left_out: z.number().int(),
  /** Tasks that the harness prints, the most harmed first; the parts of a loss add up to it. Absent without tasks. */
  tasks: z.array(task).optional(),
  tasks_left_out: z.number().int().optional(),
  gates: z.array(gate),
  failed: z.strictObject({ what: z.string(), output: failedOutputSchema.nullable() }).nullable(),
  base: pointSchema.nullable(),
  candidate: pointSchema.extend({ branch: z.string().nullable() }).nullable(),
  harness: z.string().nullable(),
  /** What the probes showed of that harness at the verdict; null without one. */
  guard: z.string().nullable(),
  diff: diffSummarySchema.nullable(),
  machines: z.array(shownMachineSchema),
  flags: z.array(z.string()),
  cost: z.strictObject({
    /** Minutes of all its measurements. Up to four candidates share one measurement. */
    minutes: z.number(),
    executions: z.number().int(),
    judge_requests: z.number().int(),
    judge_tokens: z.number().int(),
    judge_usd: z.number(),
    /** Model calls of the harness. The metrics model_cost_usd and model_tokens show them for each execution. */
    model_requests: z.number().int(),
    model_tokens: z.number().int(),
    model_usd: z.number(),
  }),
  links: z.strictObject({
    pull_request: z.number().int().nullable(),
    /** Ids of its orders and runs, for `winnow log` and GitHub. */
    orders: z.array(z.string()),
    runs: z.array(z.string()),
  }),
  learnings: z.string().nullable(),
})
export type Results = z.infer<typeof resultsSchema>

// Results

export type ExperimentEnding = { outcome: Outcome; reason: string }

export interface ExportedExperiment {
  experiment: Experiment
  results: Results
  /** Null: its commits are not available. */
  diff: readonly ChangedPath[] | null
}

interface ResultsInput {
  spec: string
  experiment: Experiment
  record: ExperimentRecord
  /** Null: it has not ended. */
  ending: ExperimentEnding | null
  /** Null: its commits are not available. */
  diff: readonly ChangedPath[] | null
}

/** A pure function of the events and the diff. */
export function buildResults({ spec, experiment, record, ending, diff }: ResultsInput): Results {
  const { decided, decisive } = record
  const last = decisive.at(-1) ?? null
  const { id, hypothesis, category, source, learnings, pull, branch, head } = experiment
  const verdict = toEndVerdict(record, ending)
  const reason = parseReason(ending?.reason ?? decided?.reason ?? experiment.reason ?? '')
  const state = { status: experiment.status, verdict, outcome: ending?.outcome ?? experiment.outcome }
  const values = last === null ? null : buildMetricResults(record, last)
  const tree = last?.order.candidates.find(({ label }) => label === id)
  return roundNumbers({
    summary: renderStateSentence({ ...state, reason: reason.sentence }),
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
    ...buildTaskResults(record),
    gates: buildGateResults(record),
    failed: last === null ? null : findFailedPart(last.report, id),
    base: last === null ? null : { commit: last.order.base.commit, tree: last.order.base.tree },
    candidate: tree === undefined ? null : { commit: head ?? tree.head, tree: tree.tree, branch },
    harness: last?.order.harness ?? null,
    guard: experiment.guard,
    diff: diff === null ? null : buildDiffSummary(diff),
    ...collectMachinesAndCost(record),
    links: {
      pull_request: pull,
      orders: decisive.map(({ order }) => order.id),
      runs: [...new Set(decisive.map(({ report }) => report.run_id))],
    },
    learnings,
  })
}

/**
 * Keeps a runner-up's own verdict, such as worse, if its outcome still applies. Otherwise the outcome
 * determines the word.
 */
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
      base: base.length === 0 ? (getOwnValue(baseline, name) ?? null) : aggregateSamples(base, aggregation),
      candidate: aggregateSamples(candidate, aggregation),
      samples: { base: limitSamples(base), candidate: limitSamples(candidate) },
    }
  }
  const metrics = Object.fromEntries(chosen.map(name => [name, resultOf(name)]))
  return { metrics, leftOut: printed.length - chosen.length }
}

function buildTaskResults(record: ExperimentRecord): Pick<Results, 'tasks' | 'tasks_left_out'> {
  const tasks = collectTaskResults(record)
  if (tasks.length === 0) return {}
  const kept = tasks.slice(0, MOST_TASKS)
  return { tasks: kept, tasks_left_out: tasks.length - kept.length }
}

/** Every metric that takes part in the verdict, the primary first. */
function listJudgedMetrics({ metric, policy }: Spec): string[] {
  const named = [...listObjectives(metric), ...listTieBreakers(policy), ...metric.degenerate_gates]
  const constrained = metric.constraints.map(each => each.metric)
  return [...new Set([...named.map(({ name }) => name), ...constrained])]
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

function collectMachinesAndCost({
  measurements,
}: ExperimentRecord): Pick<Results, 'machines' | 'flags' | 'cost'> {
  const machines = new Map<string, Results['machines'][number]>()
  const judges = { judge_requests: 0, judge_tokens: 0, judge_usd: 0 }
  const cost = { minutes: 0, executions: 0, ...judges, model_requests: 0, model_tokens: 0, model_usd: 0 }
  for (const { report } of measurements) {
    const { boot_id: _boot, hostname_sha256: _host, node: _node, ...machine } = report.machine
    machines.set(toCanonicalJson(machine), machine)
    cost.minutes += countReportMinutes(report)
    cost.executions += report.executions.length
    cost.judge_requests += report.judging?.requests ?? 0
    cost.judge_tokens += report.judging?.tokens ?? 0
    cost.judge_usd += report.judging?.usd ?? 0
    cost.model_requests += report.metered?.requests ?? 0
    cost.model_tokens += report.metered?.tokens ?? 0
    cost.model_usd += report.metered?.usd ?? 0
  }
  const flags = [...new Set(measurements.flatMap(({ report }) => report.flags))]
  return { machines: [...machines.values()], flags, cost }
}

export function renderResultsYaml(results: Results): string {
  return stringify(results, { lineWidth: 100, aliasDuplicateObjects: false })
}

/** Path in the results commit on top of the measured head. */
export function buildResultsPath(spec: string, experiment: string): string {
  return `.winnow/results/${spec}/${experiment}/results.yaml`
}
