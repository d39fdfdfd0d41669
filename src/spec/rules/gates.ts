import type { Finding } from '../problem.ts'
import { finding, repeated, type RuleContext } from './rule.ts'

/** Without a gate the fastest program is the one that does nothing. */
export function aGateOfEitherKind({ spec, rules }: RuleContext): Finding[] {
  if (spec.gates.length + spec.metric.degenerate_gates.length > 0 || rules === 'ce') return []
  return [
    finding(
      ['gates'],
      'no gate',
      'at least one gate of either kind',
      'add gates: [{ name: tests, command: … }] or metric.degenerate_gates',
    ),
  ]
}

export function ceMetricGate({ spec, rules }: RuleContext): Finding[] {
  if (rules !== 'ce' || spec.metric.degenerate_gates.length > 0) return []
  const path = ['metric', 'degenerate_gates']
  return [
    finding(path, 'no gate', 'at least one entry', 'add { name: <metric>, check: ">= 1" }, or winnow: 1'),
  ]
}

export function gateNamesUnique({ spec }: RuleContext): Finding[] {
  const names = spec.gates.map(({ name }) => name)
  const metrics = new Set(spec.metric.degenerate_gates.map(({ name }) => name))
  const twice = new Set(repeated(names))
  return names.flatMap((name, index) => {
    if (!twice.has(index) && !metrics.has(name)) return []
    return [finding(['gates', index, 'name'], JSON.stringify(name), 'a name no other gate has', 'rename it')]
  })
}
