import { awaitedPackages } from '../model/approval.ts'
import type { Campaign, Effect } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { deferredOf } from './approval-text.ts'
import { keptExperiments } from './taken-back.ts'
import { type Tally, tallyOf } from './tally.ts'

/** What a landing was measured to bring by pairs that nothing was selected by; null where it was not yet. */
export type MeasuredEffect = Pick<Effect, 'effect' | 'interval' | 'pairs' | 'scale'>

/** What a campaign came to, as numbers: the same for `run` at its end, for `status`, and for scripts. */
export interface CampaignResult {
  started_at: string | null
  /** From its start to its last event. */
  duration_seconds: number | null
  /** By the words people read: they add up to the number of experiments. */
  verdicts: Tally
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
    verdicts: tallyOf(campaign),
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

function secondsBetween(from: string | null, to: string | null): number | null {
  return from === null || to === null ? null : (Date.parse(to) - Date.parse(from)) / 1_000
}
