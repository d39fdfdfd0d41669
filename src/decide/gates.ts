import { type GateOperator, parseGateCheck } from '../spec/gate-check.ts'
import type { Spec } from '../spec/schema.ts'
import { gateValue } from './lookup.ts'

type MetricGate = Pick<Spec['metric']['degenerate_gates'][number], 'name' | 'check'>
type Constraint = Spec['metric']['constraints'][number]

function holds(value: number, operator: GateOperator, bound: number): boolean {
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
export function gatePasses(raw: unknown, check: string): boolean {
  const wanted = parseGateCheck(check)
  const value = gateValue(raw)
  return wanted !== undefined && value !== null && holds(value, wanted.op, Number(wanted.value))
}

export function failedGates(gates: readonly MetricGate[], values: Record<string, unknown>): string[] {
  return gates
    .filter(gate => !gatePasses(Object.hasOwn(values, gate.name) ? values[gate.name] : undefined, gate.check))
    .map(gate => gate.name)
}

export function constraintHolds(constraint: Constraint, raw: unknown): boolean {
  if (typeof raw === 'boolean' && typeof constraint.value === 'number') return false
  const value = gateValue(raw)
  return value !== null && holds(value, constraint.op, Number(constraint.value))
}

export function constraintText(constraint: Constraint): string {
  return `${constraint.metric} ${constraint.op} ${String(constraint.value)}`
}
