import { runnerErrorText } from '../model/runner-error.ts'
import type { Execution, GateRun, Report, Side } from '../model/report.ts'
import { aggregationOf } from '../model/aggregate.ts'
import { isJudged } from '../spec/judged.ts'
import type { Spec } from '../spec/schema.ts'
import { again, type Finding, finding } from './assessment.ts'
import { constraintHolds, constraintText, gatePasses } from './gates.ts'
import { aggregatesGates, executionsOf, gateReading, gateReadingOf } from './readings.ts'
import { otherBenchmarks } from './same-benchmarks.ts'
import { numberText, plural } from './wording.ts'

/** What ends a judgement before any number is compared, in the order in which it counts (invariant 5). */
type Case = {
  spec: Spec
  report: Report
  label: Side
  /** Among pairs one failed execution is a loss, or voids its pair; the second ends it. */
  pairs?: boolean
}

function tampering({ report, label }: Case): Finding | null {
  if (report.tampered === null) return null
  const { during, path } = report.tampered
  if (during === label) return finding('refused', `tampered: its execution changed ${path}`)
  return again(`${during} changed ${path} while it ran, so this report proves nothing about ${label}`)
}

function runnerFailure({ report }: Case): Finding | null {
  return report.runner_error === null ? null : again(runnerErrorText(report.runner_error))
}

function setUpFailure({ report, label }: Case): Finding | null {
  const failed = report.setups.filter(setup => !setup.ok)
  if (label !== 'base' && failed.some(setup => setup.side === 'base')) {
    const both = failed.some(setup => setup.side === label)
    return again(both ? 'set-up failed on both sides' : 'set-up failed on the base side')
  }
  const own = failed.find(setup => setup.side === label)
  if (own === undefined) return null
  const how = own.timed_out ? 'timed out' : 'failed'
  return finding('error', `set-up ${how} in build ${own.build}`, { failure_class: 'build' })
}

function gateFailure({ report, label }: Case): Finding | null {
  const failed = report.gates.filter(gate => !gate.passed || gate.timed_out)
  const base = failed.find(gate => gate.side === 'base')
  if (base !== undefined && label !== 'base') {
    return again(`gate ${gateText(base)} on the base too: this says nothing about ${label}`)
  }
  const own = failed.filter(gate => gate.side === label)
  if (own.length === 0) return null
  return finding('degenerate', `gate ${own.map(gateText).join(', ')}`, {
    failure_class: 'hypothesis',
    violated_objectives: own.map(gate => gate.name),
  })
}

function gateText(gate: GateRun): string {
  if (gate.timed_out) return `${gate.name} timed out`
  return gate.exit_code === null ? `${gate.name} failed` : `${gate.name} failed (exit ${gate.exit_code})`
}

function executionFailure({ spec, report, label, pairs }: Case): Finding | null {
  const failed = report.executions.filter(execution => failsIn(spec, execution))
  const at = pairs && !isJudged(spec) ? 1 : 0
  const base = failed.filter(execution => execution.side === 'base')[at]
  const owns = failed.filter(execution => execution.side === label)
  if (base !== undefined && label !== 'base') {
    const too = owns.length > 0 ? ', as that of the candidate did' : ''
    return again(`the base's execution ${failureText(base)}${too}`)
  }
  const own = owns[at]
  if (own === undefined) return null
  const flaky = label === 'base' ? undefined : failed.find(execution => execution.side === 'base')
  if (flaky !== undefined) return again(failsOnBothSides(failureText(flaky)))
  if (own.status === 'smoke-failed' || own.role === 'smoke') {
    return finding('degenerate', 'the smoke command failed', { failure_class: 'hypothesis' })
  }
  const outcome = own.status === 'timeout' ? 'timeout' : 'error'
  return finding(outcome, `the harness ${failureText(own)}`, { failure_class: 'eval' })
}

export function failsOnBothSides(how = ''): string {
  return `executions failed on both sides, so they say nothing about the candidate${how === '' ? '' : `; the base's ${how}`}`
}

/** An item without a score is a loss among others, or voids its pair; the run that printed it is one and the same. */
function failsIn(spec: Spec, { status }: Execution): boolean {
  return status !== 'ok' && !(isJudged(spec) && status === 'score-failed')
}

function failureText(execution: Execution): string {
  const detail = execution.error === undefined ? '' : `: ${execution.error}`
  switch (execution.status) {
    case 'ok':
      return 'succeeded'
    case 'crashed':
      return `crashed${detail || exitText(execution)}`
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

function exitText({ exit_code, signal }: Execution): string {
  if (signal !== null) return ` (signal ${signal})`
  return exit_code === null ? '' : ` (exit ${exit_code})`
}

/** A command gate that nobody ran has not passed. */
function unrunGate({ spec, report, label }: Case): Finding | null {
  const run = new Set(report.gates.filter(gate => gate.side === label).map(gate => gate.name))
  const missing = spec.gates.find(gate => !run.has(gate.name))
  return missing === undefined ? null : again(`the report has no run of gate ${missing.name}`)
}

function metricFailure({ spec, report, label, pairs }: Case): Finding | null {
  const all = executionsOf(report, label, 'warmup', 'sample', 'repeat')
  const runs = pairs ? all.filter(({ status }) => status === 'ok') : all
  const gated = aggregatesGates(spec) ? executionsOf(report, label, 'sample') : runs
  const gates = spec.metric.degenerate_gates.filter(
    gate => gated.length > 0 && !gatePasses(gateReading(spec, gated, gate), gate.check),
  )
  const constraints = spec.metric.constraints.filter(
    constraint => !runs.every(run => constraintHolds(constraint, gateReadingOf(run, constraint.metric))),
  )
  if (gates.length + constraints.length === 0) return null
  const names = gates.map(gate => `${gate.name} ${gate.check}`)
  const reason = aggregatesGates(spec)
    ? aggregatedText(spec, gates, gated, constraints)
    : `does not hold in every execution: ${[...names, ...constraints.map(constraintText)].join(', ')}`
  return finding('degenerate', reason, {
    failure_class: 'hypothesis',
    violated_objectives: [...gates.map(gate => gate.name), ...constraints.map(broken => broken.metric)],
  })
}

/** Says the value that was held against the gate, which no single execution need have printed. */
function aggregatedText(
  spec: Spec,
  gates: Spec['metric']['degenerate_gates'],
  samples: readonly Execution[],
  constraints: Spec['metric']['constraints'],
): string {
  const values = gates.map(gate => {
    const value = gateReading(spec, samples, gate)
    const shown = typeof value === 'number' ? numberText(value) : String(value ?? 'missing')
    return `${gate.name} ${gate.check} (${shown})`
  })
  const over = `${aggregationOf(spec)} of ${plural(samples.length, 'sample')}`
  return [
    ...(values.length === 0 ? [] : [`does not hold for the ${over}: ${values.join(', ')}`]),
    ...(constraints.length === 0
      ? []
      : [`does not hold in every execution: ${constraints.map(constraintText).join(', ')}`]),
  ].join('; ')
}

const CHECKS = [
  tampering,
  runnerFailure,
  setUpFailure,
  gateFailure,
  executionFailure,
  otherBenchmarks,
  metricFailure,
  unrunGate,
] as const

export function failureOf(judged: Case): Finding | null {
  for (const check of CHECKS) {
    const found = check(judged)
    if (found !== null) return found
  }
  return null
}
