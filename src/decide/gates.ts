import { type GateOperator, parseGateCheck } from '../spec/gate-check.ts'
import type { Spec } from '../spec/schema.ts'
import { toGateValue } from './lookup.ts'

type MetricGate = Pick<Spec['metric']['degenerate_gates'][number], 'name' | 'check'>
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

/** A check that cannot be read passes nothing; so does a value that is not a finite number (invariant 5). */
export function isGatePassed(raw: unknown, check: string): boolean {
  const wanted = parseGateCheck(check)
  const value = toGateValue(raw)
  return wanted !== undefined && value !== null && isBoundHeld(value, wanted.op, Number(wanted.value))
}

export function listFailedGates(gates: readonly MetricGate[], values: Record<string, unknown>): string[] {
  return gates
    .filter(
      gate => !isGatePassed(Object.hasOwn(values, gate.name) ? values[gate.name] : undefined, gate.check),
    )
    .map(gate => gate.name)
}

export function isConstraintMet(constraint: Constraint, raw: unknown): boolean {
  if (typeof raw === 'boolean' && typeof constraint.value === 'number') return false
  const value = toGateValue(raw)
  return value !== null && isBoundHeld(value, constraint.op, Number(constraint.value))
}

export function formatConstraint(constraint: Constraint): string {
  return `${constraint.metric} ${constraint.op} ${String(constraint.value)}`
}
