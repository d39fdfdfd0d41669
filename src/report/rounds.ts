import { formatNumber } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import { listExperiments } from '../model/experiment.ts'
import { getNumber } from '../model/report.ts'
import { parseReason } from '../model/text.ts'
import type { Spec } from '../spec/schema.ts'

/** What one round measured, in the order of the ledger. */
export interface RoundView {
  round: number
  experiments: {
    id: string
    hypothesis: string
    verdict: string | null
    reason: string | null
    /** The primary metric of the experiment and of its base, as last measured. */
    base: number | null
    value: number | null
  }[]
}

export function buildRoundViews(campaign: Campaign, spec: Pick<Spec, 'metric'>): RoundView[] {
  const { name } = spec.metric.primary
  const rounds = new Map<number, RoundView>()
  for (const experiment of listExperiments(campaign)) {
    const { id, round, hypothesis, verdict, reason, metrics, base_metrics } = experiment
    if (round === null) continue
    const view = rounds.get(round) ?? { round, experiments: [] }
    const numbers = { base: getNumber(base_metrics, name), value: getNumber(metrics, name) }
    const sentence = reason === null ? null : parseReason(reason).sentence
    view.experiments.push({ id, hypothesis, verdict, reason: sentence, ...numbers })
    rounds.set(round, view)
  }
  return [...rounds.values()].toSorted((a, b) => a.round - b.round)
}

export function renderRoundViews(views: readonly RoundView[], metric: string): string[] {
  return views.flatMap(({ round, experiments }) =>
    experiments.map(({ id, verdict, hypothesis, base, value }) => {
      const numbers =
        base === null || value === null ? '' : `  ${metric} ${formatNumber(base)} -> ${formatNumber(value)}`
      return `round ${round}  ${id}  ${verdict ?? 'open'}${numbers}  ${hypothesis}`
    }),
  )
}
