import { awaitedPackages } from '../model/approval.ts'
import type { Campaign, Effect } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { type VerdictWord, verdictWord } from '../model/outcome.ts'
import { deferredOf } from './approval-text.ts'
import { isTakenBack, keptExperiments } from './taken-back.ts'

/** What a landing was measured to bring by pairs that nothing was selected by; null where it was not yet. */
export type MeasuredEffect = Pick<Effect, 'effect' | 'interval' | 'pairs' | 'scale'>

/** What a campaign came to, as numbers: the same for `run` at its end, for `status`, and for scripts. */
export interface CampaignResult {
  started_at: string | null
  /** From its start to its last event. */
  duration_seconds: number | null
  /** By the words people read; what was taken back is under none of them. */
  verdicts: Record<VerdictWord | 'waiting' | 'taken_back', number>
  /** The incumbent against where progress is counted from, if that was measured; positive is better. */
  progress: MeasuredEffect | null
  improvements: {
    id: string
    hypothesis: string
    effect: MeasuredEffect | null
    selected_by: number | null
  }[]
  deferred: { id: string; hypothesis: string; packages: string[]; approve: string }[]
  spent: Campaign['spent']
}

export function campaignResult(campaign: Campaign): CampaignResult {
  const { started_at, updated_at, spent, progression, incumbent, reference } = campaign
  const current = progression?.to.commit === incumbent.commit && progression.from.commit === reference.commit
  return {
    started_at,
    duration_seconds: secondsBetween(started_at, updated_at),
    verdicts: verdictsOf(campaign),
    progress: progression && current ? numbersOf(progression) : null,
    improvements: keptExperiments(campaign).map(({ id, hypothesis, primary_delta }) => ({
      id,
      hypothesis,
      effect: effectOf(campaign, id),
      selected_by: primary_delta,
    })),
    deferred: deferredOf(campaign).map(experiment => ({
      id: experiment.id,
      hypothesis: experiment.hypothesis,
      packages: awaitedPackages(experiment),
      approve: `winnow approve ${experiment.id}`,
    })),
    spent,
  }
}

export function effectOf(
  { landings }: Pick<Campaign, 'landings'>,
  id: Experiment['id'],
): MeasuredEffect | null {
  const landing = landings.find(({ experiment, reverted }) => experiment === id && reverted === null)
  return landing?.effect ? numbersOf(landing.effect) : null
}

function numbersOf({ effect, interval, pairs, scale }: Effect): MeasuredEffect {
  return { effect, interval, pairs, scale }
}

function verdictsOf(campaign: Campaign): CampaignResult['verdicts'] {
  const none = Object.fromEntries(verdictWord.options.map(word => [word, 0])) as Record<VerdictWord, number>
  const verdicts = { ...none, waiting: 0, taken_back: 0 }
  for (const { id, verdict } of Object.values(campaign.experiments)) {
    if (isTakenBack(campaign, id)) verdicts.taken_back += 1
    else verdicts[verdict ?? 'waiting'] += 1
  }
  return verdicts
}

function secondsBetween(from: string | null, to: string | null): number | null {
  return from === null || to === null ? null : (Date.parse(to) - Date.parse(from)) / 1_000
}
