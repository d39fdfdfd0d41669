import { formatRunnerError } from '../model/runner-error.ts'
import type { Execution, GateRun, Report, Side } from '../model/report.ts'
import { getAggregation } from '../model/aggregate.ts'
import { isJudgedMetric } from '../spec/judged.ts'
import type { Spec } from '../spec/schema.ts'
import { createRetryFinding, type AssessmentFinding, createFinding } from './assessment.ts'
import { isConstraintMet, formatConstraint, isGatePassed } from './gates.ts'
import { isGateAggregated, listExecutions, readGate, readGateValue } from './readings.ts'
import { findOtherBenchmarks } from './same-benchmarks.ts'
import { formatNumber, formatCount } from './wording.ts'

/** What ends a judgement before any number is compared, in the order in which it counts (invariant 5). */
type CandidateCase = {
  spec: Spec
  report: Report
  label: Side
  /** Among pairs one failed execution is a loss, or voids its pair; the second ends it. */
  pairs?: boolean
}

function findTampering({ report, label }: CandidateCase): AssessmentFinding | null {
  if (report.tampered === null) return null
  const { during, path } = report.tampered
  if (during === label) return createFinding('refused', `tampered: its execution changed ${path}`)
  return createRetryFinding(
    `${during} changed ${path} while it ran, so this report proves nothing about ${label}`,
  )
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
  if (base !== undefined && label !== 'base') {
    return createRetryFinding(
      `gate ${describeGateFailure(base)} on the base too: this says nothing about ${label}`,
    )
  }
  const own = failed.filter(gate => gate.side === label)
  if (own.length === 0) return null
  return createFinding('degenerate', `gate ${own.map(describeGateFailure).join(', ')}`, {
    failure_class: 'hypothesis',
    violated_objectives: own.map(gate => gate.name),
  })
}

function describeGateFailure(gate: GateRun): string {
  if (gate.timed_out) return `${gate.name} timed out`
  return gate.exit_code === null ? `${gate.name} failed` : `${gate.name} failed (exit ${gate.exit_code})`
}

function findExecutionFailure({ spec, report, label, pairs }: CandidateCase): AssessmentFinding | null {
  const failed = report.executions.filter(execution => isFailedExecution(spec, execution))
  const at = pairs && !isJudgedMetric(spec) ? 1 : 0
  const base = failed.filter(execution => execution.side === 'base')[at]
  const owns = failed.filter(execution => execution.side === label)
  if (base !== undefined && label !== 'base') {
    const too = owns.length > 0 ? ', as that of the candidate did' : ''
    return createRetryFinding(`the base's execution ${describeExecutionFailure(base)}${too}`)
  }
  const own = owns[at]
  if (own === undefined) return null
  const flaky = label === 'base' ? undefined : failed.find(execution => execution.side === 'base')
  if (flaky !== undefined)
    return createRetryFinding(describeFailureOnBothSides(describeExecutionFailure(flaky)))
  if (own.status === 'smoke-failed' || own.role === 'smoke') {
    return createFinding('degenerate', 'the smoke command failed', { failure_class: 'hypothesis' })
  }
  const outcome = own.status === 'timeout' ? 'timeout' : 'error'
  return createFinding(outcome, `the harness ${describeExecutionFailure(own)}`, { failure_class: 'eval' })
}

export function describeFailureOnBothSides(how = ''): string {
  return `executions failed on both sides, so they say nothing about the candidate${how === '' ? '' : `; the base's ${how}`}`
}

/** An item without a score is a loss among others, or voids its pair; the run that printed it is one and the same. */
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
      return `left nothing that could be scored${detail}`
    default:
      return execution.status satisfies never
  }
}

function describeExit({ exit_code, signal }: Execution): string {
  if (signal !== null) return ` (signal ${signal})`
  return exit_code === null ? '' : ` (exit ${exit_code})`
}

/** A command gate that nobody ran has not passed. */
function findUnrunGate({ spec, report, label }: CandidateCase): AssessmentFinding | null {
  const run = new Set(report.gates.filter(gate => gate.side === label).map(gate => gate.name))
  const missing = spec.gates.find(gate => !run.has(gate.name))
  return missing === undefined ? null : createRetryFinding(`the report has no run of gate ${missing.name}`)
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

/** Says the value that was held against the gate, which no single execution need have printed. */
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
  return [
    ...(values.length === 0 ? [] : [`does not hold for the ${over}: ${values.join(', ')}`]),
    ...(constraints.length === 0
      ? []
      : [`does not hold in every execution: ${constraints.map(formatConstraint).join(', ')}`]),
  ].join('; ')
}

const FAILURE_CHECKS = [
  findTampering,
  findRunnerFailure,
  findSetUpFailure,
  findGateFailure,
  findExecutionFailure,
  findOtherBenchmarks,
  findMetricFailure,
  findUnrunGate,
] as const

export function findFailure(judged: CandidateCase): AssessmentFinding | null {
  for (const check of FAILURE_CHECKS) {
    const found = check(judged)
    if (found !== null) return found
  }
  return null
}
