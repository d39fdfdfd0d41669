import { stringify } from 'yaml'
import type { Experiment } from '../model/experiment.ts'
import type { EventDraft } from '../model/event.ts'
import { type Outcome, verdictOf } from '../model/outcome.ts'
import { reasonOf } from '../model/reason.ts'
import { verdictSentence } from './sentence.ts'

/** The file an experiment's branch ends with: what was tried, how it ended, the numbers. */
export interface Results {
  spec: string
  experiment: Pick<Experiment, 'id' | 'hypothesis' | 'category' | 'head' | 'learnings' | 'metrics'>
  ending: { outcome: Outcome; reason: string }
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
  const { sentence, evidence } = reasonOf(ending.reason)
  const verdict = decided?.verdict ?? verdictOf(ending.outcome, false)
  const { outcome } = ending
  return stringify(
    {
      summary: verdictSentence({ verdict, outcome, reason: sentence }),
      spec,
      experiment: id,
      hypothesis,
      category,
      head,
      outcome,
      reason: sentence,
      ...(evidence === null ? {} : { evidence: evidence.replace(/^evidence /, '') }),
      ...judged,
      metrics,
      learnings,
    },
    { lineWidth: 100 },
  )
}
