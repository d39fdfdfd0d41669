import type { SpecFinding } from '../problem.ts'
import { createSpecFinding, findRepeatedIndexes, type RuleContext } from './rule.ts'

/** Without a gate the fastest program is the one that does nothing. */
export function requireGate({ spec, rules }: RuleContext): SpecFinding[] {
  if (spec.gates.length + spec.metric.degenerate_gates.length > 0 || rules === 'ce') return []
  return [
    createSpecFinding(
      ['gates'],
      'no gate',
      'at least one gate of either kind',
      'add gates: [{ name: tests, command: … }] or metric.degenerate_gates',
    ),
  ]
}

export function requireCeMetricGate({ spec, rules }: RuleContext): SpecFinding[] {
  if (rules !== 'ce' || spec.metric.degenerate_gates.length > 0) return []
  const path = ['metric', 'degenerate_gates']
  return [
    createSpecFinding(
      path,
      'no gate',
      'at least one entry',
      'add { name: <metric>, check: ">= 1" }, or winnow: 1',
    ),
  ]
}

export function requireUniqueGateNames({ spec }: RuleContext): SpecFinding[] {
  const names = spec.gates.map(({ name }) => name)
  const metrics = new Set(spec.metric.degenerate_gates.map(({ name }) => name))
  const twice = new Set(findRepeatedIndexes(names))
  return names.flatMap((name, index) => {
    if (!twice.has(index) && !metrics.has(name)) return []
    return [
      createSpecFinding(
        ['gates', index, 'name'],
        JSON.stringify(name),
        'a name no other gate has',
        'rename it',
      ),
    ]
  })
}
