import { BUILT_IN_METRICS } from './built-in-metrics.ts'
import type { ParsedSpec } from './schema.ts'

type DecisiveSections = {
  metric: Pick<ParsedSpec['metric'], 'objectives'> & { primary: { name: string } }
  policy: ParsedSpec['policy']
}

/** Metrics winnow times or weighs itself that can change a verdict: no two runs of them are ever equal. */
export function listTimedDecisiveMetrics({ metric, policy }: DecisiveSections): string[] {
  const objectives = metric.objectives.filter(({ role }) => role !== 'secondary')
  const ties = policy.tie_breakers.map(tie => ('lower' in tie ? tie.lower : tie.higher))
  const names = new Set([metric.primary.name, ...objectives.map(({ name }) => name), ...ties])
  return [...names].filter(name => BUILT_IN_METRICS.has(name))
}
