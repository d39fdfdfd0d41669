import { stringify } from 'yaml'
import type { Experiment } from '../model/campaign.ts'
import type { EventDraft } from '../model/event.ts'

/** The file an experiment's branch ends with: what was tried, how it ended, the numbers. */
export interface Results {
  spec: string
  experiment: Pick<Experiment, 'id' | 'hypothesis' | 'category' | 'head' | 'learnings' | 'metrics'>
  ending: { outcome: string; reason: string }
  decided: EventDraft<'decided'> | null
}

export function resultsYaml({ spec, experiment, ending, decided }: Results): string {
  const { id, hypothesis, category, head, learnings, metrics } = experiment
  const judged = decided && {
    verdict: decided.verdict,
    order: decided.order,
    rule_version: decided.rule_version,
    primary_delta: decided.primary_delta,
    improved: decided.improved,
    violated: decided.violated,
    warnings: decided.warnings,
  }
  return stringify(
    {
      spec,
      experiment: id,
      hypothesis,
      category,
      head,
      outcome: ending.outcome,
      reason: ending.reason,
      ...judged,
      metrics,
      learnings,
    },
    { lineWidth: 100 },
  )
}
