/** A metric gate's check, "<op> <number|true|false>", as data. Missing is not good: an infinite bound is no bound. */
export type GateOperator = '>=' | '<=' | '>' | '<' | '==' | '!='
export type GateCheck = { op: GateOperator; value: number | boolean }

export const GATE_CHECK = /^\s*(>=|<=|==|!=|>|<)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|true|false)\s*$/

function isOperator(op: string | undefined): op is GateOperator {
  return op !== undefined && ['>=', '<=', '>', '<', '==', '!='].includes(op)
}

export function parseGateCheck(check: string): GateCheck | undefined {
  const [, op, bound] = GATE_CHECK.exec(check) ?? []
  if (!isOperator(op) || bound === undefined) return undefined
  if (bound === 'true' || bound === 'false') return { op, value: bound === 'true' }
  const value = Number(bound)
  return Number.isFinite(value) ? { op, value } : undefined
}
