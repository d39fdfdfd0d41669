import { listDecisiveMetrics } from '../../decide/tie-breakers.ts'
import { parseGateCheck } from '../../spec/gate-check.ts'
import type { Spec } from '../../spec/schema.ts'
import { toOutputError, type HarnessOutput } from './printed.ts'

/**
 * Invariant 5: `false` is not the number 0, so a boolean is legal only where a gate reads it. A constraint with a
 * boolean on its right side is a gate in kind. Metrics that the spec does not name decide nothing and may be booleans.
 */
export function refuseBooleans(printed: HarnessOutput, spec: Spec): HarnessOutput {
  for (const name of listNumericMetrics(spec)) {
    const value = Object.hasOwn(printed.metrics, name) ? printed.metrics[name] : undefined
    if (typeof value !== 'boolean') continue
    throw toOutputError(
      `${name} is ${value}, but the spec needs a number: only metric.degenerate_gates and constraints such as "== true" take booleans`,
      JSON.stringify({ [name]: value }),
      JSON.stringify({ [name]: 12.5 }),
    )
  }
  return printed
}

function listNumericMetrics(spec: Spec): Set<string> {
  const { degenerate_gates: gates, constraints, objectives, diagnostics } = spec.metric
  const takesBooleans = new Set([
    ...gates.map(({ name }) => name),
    ...constraints.filter(({ value }) => typeof value === 'boolean').map(({ metric }) => metric),
  ])
  return new Set([
    ...listDecisiveMetrics(spec),
    ...objectives.map(({ name }) => name),
    ...constraints.filter(({ value }) => typeof value === 'number').map(({ metric }) => metric),
    ...gates.filter(({ check }) => isNumberNeeded(check)).map(({ name }) => name),
    ...diagnostics.map(({ name }) => name).filter(name => !takesBooleans.has(name)),
  ])
}

/** `coverage >= 0.95` asks for a share: `true` would pass it without any coverage. */
function isNumberNeeded(check: string): boolean {
  const wanted = parseGateCheck(check)
  return typeof wanted?.value === 'number' && ![0, 1].includes(wanted.value)
}
