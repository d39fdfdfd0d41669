import type { PairJob } from '../model/pairs.ts'
import {
  type Execution,
  formatRunnerError,
  type GateRun,
  getAggregation,
  joinStreams,
  type Report,
  type Side,
  type Snapshot,
} from '../model/report.ts'
import { joinFirst } from '../model/text.ts'
import type { Spec } from '../spec/schema.ts'
import { BUILT_IN_METRICS, isBenchmarkFormat } from '../spec/schema-values.ts'
import { isJudgedMetric } from '../spec/spec-facts.ts'
import { type AssessmentFinding, createFinding, createRetryFinding } from './assessment.ts'
import { describeLostOutput, describeShortOutput } from './lost-output.ts'
import {
  formatConstraint,
  isConstraintMet,
  isGateAggregated,
  isGatePassed,
  listExecutions,
  readGate,
  readGateValue,
} from './metrics.ts'
import { findOtherAnswers } from './same-answers.ts'
import { formatCount, formatNumber } from './wording.ts'

type CandidateCase = {
  spec: Spec
  report: Report
  label: Side
  /** Among pairs one failed execution is a loss, or voids its pair; the second ends it. */
  pairs?: boolean
}

/** In the order in which they count (invariant 5). */
const FAILURE_CHECKS = [
  findTampering,
  findRunnerFailure,
  findSetUpFailure,
  findGateFailure,
  findShortGateOutput,
  findExecutionFailure,
  findOtherBenchmarks,
  findOtherAnswers,
  findMetricFailure,
  findLostOutput,
  findUnrunGate,
] as const

// Failures of one candidate

export function findFailure(judged: CandidateCase): AssessmentFinding | null {
  for (const check of FAILURE_CHECKS) {
    const found = check(judged)
    if (found !== null) return found
  }
  return null
}

function findTampering({ report, label }: CandidateCase): AssessmentFinding | null {
  if (report.tampered === null) return null
  const { during, path } = report.tampered
  return during === label
    ? createFinding('refused', `tampered: its execution changed ${path}`)
    : createRetryFinding(`${path} changed while ${during} ran, so this report proves nothing about ${label}`)
}

function findRunnerFailure({ report }: CandidateCase): AssessmentFinding | null {
  return report.runner_error === null ? null : createRetryFinding(formatRunnerError(report.runner_error))
}

function findSetUpFailure({ report, label }: CandidateCase): AssessmentFinding | null {
  const failed = report.setups.filter(setup => !setup.ok)
  if (label !== 'base' && failed.some(setup => setup.side === 'base')) {
    const both = failed.some(setup => setup.side === label)
    return createRetryFinding(both ? 'set-up failed on both sides' : 'set-up failed on the base side')
  }
  const own = failed.find(setup => setup.side === label)
  if (own === undefined) return null
  const how = own.timed_out ? 'timed out' : 'failed'
  return createFinding('error', `set-up ${how} in build ${own.build}`, { failure_class: 'build' })
}

function findGateFailure({ report, label }: CandidateCase): AssessmentFinding | null {
  const failed = report.gates.filter(gate => !gate.passed || gate.timed_out)
  const base = failed.find(gate => gate.side === 'base')
  if (base !== undefined && label !== 'base')
    return createRetryFinding(
      `gate ${describeGateFailure(base)} on the base too, so ${label} did not cause it`,
    )
  const own = failed.filter(gate => gate.side === label)
  if (own.length === 0) return null
  return createFinding('degenerate', `gate ${own.map(describeGateFailure).join(', ')}`, {
    failure_class: 'hypothesis',
    violated_objectives: own.map(gate => gate.name),
  })
}

function describeGateFailure({ name, timed_out, exit_code }: GateRun): string {
  return timed_out ? `${name} timed out` : `${name} failed${describeExit({ exit_code, signal: null })}`
}

/**
 * An exit code of 0 is also that of a program that ended before its tests ran. The base ran the same gates in the same
 * job, if this candidate would be kept.
 */
function findShortGateOutput({ report, label }: CandidateCase): AssessmentFinding | null {
  if (label === 'base') return null
  const short = report.gates
    .filter(gate => gate.side === label)
    .flatMap(gate => describeShortOutput(gate, listBaseRuns(report, gate)) ?? [])
  if (short.length === 0) return null
  return createFinding('degenerate', short.map(({ text }) => text).join('; '), {
    failure_class: 'hypothesis',
    violated_objectives: short.map(({ name }) => name),
  })
}

function listBaseRuns(report: Report, { name, phase }: GateRun): GateRun[] {
  return report.gates.filter(gate => gate.side === 'base' && gate.name === name && gate.phase === phase)
}

function findExecutionFailure(judged: CandidateCase): AssessmentFinding | null {
  const { spec, report, label, pairs } = judged
  const every = findFailedSuite(judged)
  if (every !== null) return every
  const failed = report.executions.filter(execution => isFailedExecution(spec, execution))
  const failureIndex = pairs && !isJudgedMetric(spec) ? 1 : 0
  const baseFailures = label === 'base' ? [] : failed.filter(({ side }) => side === 'base')
  const ownFailures = failed.filter(({ side }) => side === label)
  const base = baseFailures[failureIndex]
  if (base !== undefined) {
    const too = ownFailures.length > 0 ? ', as that of the candidate did' : ''
    return createRetryFinding(`the base's execution ${describeExecutionFailure(base)}${too}`)
  }
  const own = ownFailures[failureIndex]
  if (own === undefined) return null
  const [flaky] = baseFailures
  if (flaky !== undefined)
    return createRetryFinding(describeFailureOnBothSides(describeExecutionFailure(flaky)))
  if (own.status === 'smoke-failed' || own.role === 'smoke')
    return createFinding('degenerate', 'the smoke command failed', { failure_class: 'hypothesis' })
  const outcome = own.status === 'timeout' ? 'timeout' : 'error'
  return createFinding(outcome, `the harness ${describeExecutionFailure(own)}`, { failure_class: 'eval' })
}

/** A task that failed has the worst loss. If every one did, the harness does not work, and nothing was measured. */
function findFailedSuite({ report, label }: CandidateCase): AssessmentFinding | null {
  const findCrash = (side: Side) => {
    const runs = listExecutions(report, side, 'sample').filter(({ task }) => task !== undefined)
    const crashed = runs.filter(({ status, error }) => status === 'ok' && error !== undefined)
    return runs.length > 0 && crashed.length === runs.length ? crashed[0] : undefined
  }
  const base = label === 'base' ? undefined : findCrash('base')
  if (base !== undefined) return createRetryFinding(`every task of the base failed: ${base.error}`)
  const own = findCrash(label)
  if (own === undefined) return null
  return createFinding('error', `every task failed: the first ${own.error}`, { failure_class: 'eval' })
}

/** An item without a score is a loss, or voids its pair; the run that printed it did not fail. */
function isFailedExecution(spec: Spec, { status }: Execution): boolean {
  return status !== 'ok' && !(isJudgedMetric(spec) && status === 'score-failed')
}

function describeExecutionFailure(execution: Execution): string {
  const detail = execution.error === undefined ? '' : `: ${execution.error}`
  switch (execution.status) {
    case 'ok':
      return 'succeeded'
    case 'crashed':
      return `crashed${detail || describeExit(execution)}`
    case 'timeout':
      return `timed out${detail}`
    case 'bad-output':
      return `printed no result${detail}`
    case 'smoke-failed':
      return `failed its smoke command${detail}`
    case 'score-failed':
      return `left no files to score${detail}`
    default:
      return execution.status satisfies never
  }
}

function describeExit({ exit_code, signal }: Pick<Execution, 'exit_code' | 'signal'>): string {
  if (signal !== null) return ` (signal ${signal})`
  return exit_code === null ? '' : ` (exit ${exit_code})`
}

/**
 * Invariant 5: a mean over benchmarks says nothing about a missing one, so every execution of both sides must
 * have reported identical sets.
 */
function findOtherBenchmarks({ spec, report, label }: CandidateCase): AssessmentFinding | null {
  if (!isBenchmarkFormat(spec.measurement.output)) return null
  const base = listExecutions(report, 'base').filter(isCounted)
  const own = listExecutions(report, label).filter(isCounted)
  const [first] = base.length > 0 ? base : own
  if (first === undefined) return null
  const names = collectBenchmarks(first.metrics)
  const unsteady = findFirstDifference(names, base)
  if (unsteady !== null && label !== 'base') return createRetryFinding(`the base itself varies: ${unsteady}`)
  const difference = unsteady ?? findFirstDifference(names, own)
  return difference === null ? null : createBenchmarkFailure(difference)
}

function isCounted({ role, status }: Execution): boolean {
  return status === 'ok' && role !== 'smoke' && role !== 'holdout'
}

function collectBenchmarks(metrics: object): Set<string> {
  return new Set(Object.keys(metrics).filter(name => !BUILT_IN_METRICS.has(name)))
}

function findFirstDifference(names: ReadonlySet<string>, runs: readonly Execution[]): string | null {
  for (const { metrics } of runs) {
    const difference = describeNameDifference(names, collectBenchmarks(metrics))
    if (difference !== null) return difference
  }
  return null
}

function describeNameDifference(base: ReadonlySet<string>, candidate: ReadonlySet<string>): string | null {
  const missing = [...base].filter(name => !candidate.has(name))
  const added = [...candidate].filter(name => !base.has(name))
  const parts = [...formatNames(missing, 'missing'), ...formatNames(added, 'new')]
  return parts.length === 0 ? null : parts.join('; ')
}

const BENCHMARKS_SHOWN = 3

function formatNames(names: readonly string[], what: string): string[] {
  const shown = joinFirst(names.toSorted(), BENCHMARKS_SHOWN)
  return names.length === 0 ? [] : [`${shown} ${names.length === 1 ? 'is' : 'are'} ${what}`]
}

function createBenchmarkFailure(difference: string): AssessmentFinding {
  return createFinding('error', `the benchmarks differ from those of the base: ${difference}`, {
    failure_class: 'eval',
  })
}

function findMetricFailure({ spec, report, label, pairs }: CandidateCase): AssessmentFinding | null {
  const all = listExecutions(report, label, 'warmup', 'sample', 'repeat')
  const runs = pairs ? all.filter(({ status }) => status === 'ok') : all
  const gated = isGateAggregated(spec) ? listExecutions(report, label, 'sample') : runs
  const gates = spec.metric.degenerate_gates.filter(
    gate => gated.length > 0 && !isGatePassed(readGate(spec, gated, gate), gate.check),
  )
  const constraints = spec.metric.constraints.filter(
    constraint => !runs.every(run => isConstraintMet(constraint, readGateValue(run, constraint.metric))),
  )
  if (gates.length + constraints.length === 0) return null
  const names = gates.map(gate => `${gate.name} ${gate.check}`)
  const reason = isGateAggregated(spec)
    ? describeAggregates(spec, gates, gated, constraints)
    : `does not hold in every execution: ${[...names, ...constraints.map(formatConstraint)].join(', ')}`
  return createFinding('degenerate', reason, {
    failure_class: 'hypothesis',
    violated_objectives: [...gates.map(gate => gate.name), ...constraints.map(broken => broken.metric)],
  })
}

/** Shows the aggregate that the gate checked, which no single execution need have printed. */
function describeAggregates(
  spec: Spec,
  gates: Spec['metric']['degenerate_gates'],
  samples: readonly Execution[],
  constraints: Spec['metric']['constraints'],
): string {
  const values = gates.map(gate => {
    const value = readGate(spec, samples, gate)
    const shown = typeof value === 'number' ? formatNumber(value) : String(value ?? 'missing')
    return `${gate.name} ${gate.check} (${shown})`
  })
  const over = `${getAggregation(spec)} of ${formatCount(samples.length, 'sample')}`
  const parts = [
    values.length > 0 && `does not hold for the ${over}: ${values.join(', ')}`,
    constraints.length > 0 &&
      `does not hold in every execution: ${constraints.map(formatConstraint).join(', ')}`,
  ]
  return parts.filter(part => part !== false).join('; ')
}

/** A harness that ended early may still have printed the metrics that the spec names. */
function findLostOutput({ report, label }: CandidateCase): AssessmentFinding | null {
  const lost = describeLostOutput(report, label)
  return lost === null ? null : createFinding('error', `the harness ${lost}`, { failure_class: 'hypothesis' })
}

/** A command gate that was not run has not passed. */
function findUnrunGate({ spec, report, label }: CandidateCase): AssessmentFinding | null {
  const run = new Set(report.gates.filter(gate => gate.side === label).map(gate => gate.name))
  const missing = spec.gates.find(gate => !run.has(gate.name))
  return missing === undefined ? null : createRetryFinding(`the report has no run of gate ${missing.name}`)
}

export function findOtherThanStored(
  spec: Spec,
  stored: Snapshot,
  candidate: Snapshot,
): AssessmentFinding | null {
  if (!isBenchmarkFormat(spec.measurement.output)) return null
  const [before, after] = [stored, candidate].map(({ metrics, diagnostics }) =>
    collectBenchmarks({ ...metrics, ...diagnostics }),
  )
  const difference = before && after ? describeNameDifference(before, after) : null
  return difference === null ? null : createBenchmarkFailure(difference)
}

export function describeFailureOnBothSides(how = ''): string {
  return `executions failed on both sides, so they prove nothing about the candidate${how === '' ? '' : `; the base's ${how}`}`
}

// Harnesses that fail now and then

/** With this many failures of unchanged code, they are no single accident. */
const UNSTEADY_FAILURES = 2

/**
 * A harness that fails on unchanged code now and then, but not always: ideas would fail by the same chance.
 * Null where no run failed, every run did, or one alone among many in pairs.
 */
export function describeUnsteadyHarness(
  { executions }: Pick<Report, 'executions'>,
  { earlier = [], most = UNSTEADY_FAILURES }: { earlier?: readonly PairJob[]; most?: number } = {},
): string | null {
  const pairs = earlier.flatMap(job => job.pairs).filter(({ lost }) => !lost)
  const before = pairs.flatMap(pair => [pair.base, pair.candidate]).filter(side => side === null).length
  const failed = executions.filter(({ status }) => status !== 'ok')
  const total = executions.length + 2 * pairs.length
  const failures = failed.length + before
  if (failures < most || failures === total) return null
  return `the harness failed in ${failures} of ${formatCount(total, 'run')} of unchanged code${formatLastFailure(failed.at(-1))}
Ideas would fail as often. Let it exit 0 and print the number whenever it has measured, and let a gate or a constraint judge it; or fix the cause.`
}

const FAILURE_LINES = 3

function formatLastFailure(run: Execution | undefined): string {
  if (run === undefined) return ''
  const how = run.error ?? (run.exit_code === null ? run.status : `exit ${run.exit_code}`)
  const lines = joinStreams(run.output).trim().split('\n').slice(-FAILURE_LINES).join('\n')
  return `: ${how}${lines === '' ? '' : `; its last lines:\n${lines}`}`
}
