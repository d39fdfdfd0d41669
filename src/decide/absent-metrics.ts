import type { Execution } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { readGateValue } from './readings.ts'
import { listTieBreakers } from './tie-breakers.ts'

/** A metric that the spec names and no execution gave a value for. */
export interface AbsentMetric {
  name: string
  /** The key that names it. */
  key: string
  /** Printed, but as NaN, infinite or null. */
  printed: boolean
}

/** Invariant 5, said before it costs a campaign: all keys of the spec against all that was printed. */
export function findAbsentMetrics(spec: Spec, executions: readonly Execution[]): AbsentMetric[] {
  const runs = executions.filter(({ status, role }) => status === 'ok' && role !== 'smoke')
  if (runs.length === 0) return []
  const found = new Map<string, AbsentMetric>()
  for (const { name, key } of listSpecMetrics(spec)) {
    if (found.has(name) || runs.some(run => readGateValue(run, name) !== null)) continue
    found.set(name, { name, key, printed: runs.some(run => Object.hasOwn(run.metrics, name)) })
  }
  return [...found.values()]
}

function listSpecMetrics({ metric, policy }: Spec): { name: string; key: string }[] {
  return [
    ...(metric.primary.type === 'hard' ? [{ name: metric.primary.name, key: 'metric.primary' }] : []),
    ...metric.objectives.map(({ name }) => ({ name, key: 'metric.objectives' })),
    ...metric.degenerate_gates.map(({ name }) => ({ name, key: 'metric.degenerate_gates' })),
    ...metric.constraints.map(({ metric: name }) => ({ name, key: 'metric.constraints' })),
    ...metric.diagnostics.map(({ name }) => ({ name, key: 'metric.diagnostics' })),
    ...listTieBreakers(policy).map(({ name }) => ({ name, key: 'policy.tie_breakers' })),
  ]
}

/** What the executions printed, besides what winnow measures itself. */
export function listPrintedNames(executions: readonly Execution[], builtIn: ReadonlySet<string>): string[] {
  const names = new Set(executions.flatMap(({ metrics }) => Object.keys(metrics)))
  return [...names].filter(name => !builtIn.has(name))
}
