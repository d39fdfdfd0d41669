import { formatNumber } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import { isUndecided, listExperiments } from '../model/experiment.ts'
import { getNumber } from '../model/report.ts'
import { parseReason } from '../model/text.ts'
import { listOpenIdeas } from '../plan/backlog.ts'
import { getRoundSize } from '../plan/round-orders.ts'
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
    const { id, round, hypothesis, reason, metrics, base_metrics } = experiment
    if (round === null) continue
    const view = rounds.get(round) ?? { round, experiments: [] }
    const numbers = { base: getNumber(base_metrics, name), value: getNumber(metrics, name) }
    const verdict = isUndecided(experiment) ? null : experiment.verdict
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

// The count of rounds

interface RoundCount {
  /** The round under way, or the latest one. */
  round: number
  /** With the rounds that the waiting ideas need; null where nothing waits. */
  about: number | null
  /** Experiments of that round. */
  members: number
}

/** Programs and people may bring more ideas, so the total is an estimate. Null before the first round. */
export function countRounds(campaign: Campaign, spec: Spec): RoundCount | null {
  const { round, status, ended } = campaign
  if (round === null) return null
  const members = round.members.length
  const queued = listExperiments(campaign).filter(
    each => each.status === 'queued' && !round.members.includes(each.id),
  )
  const allowed = Math.max(0, spec.stopping.max_iterations - ended - (round.open ? members : 0))
  const waiting = Math.min(queued.length + listOpenIdeas(campaign).length, allowed)
  if (status === 'stopped' || waiting === 0) return { round: round.number, about: null, members }
  return { round: round.number, about: round.number + Math.ceil(waiting / getRoundSize(spec)), members }
}

/** "round 3 of about 7" */
export function formatRounds({ round, about }: RoundCount): string {
  return about === null ? `round ${round}` : `round ${round} of about ${about}`
}
