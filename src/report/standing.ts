import type { Campaign, Experiment } from '../model/campaign.ts'
import type { Standing } from './sentence.ts'
import { isTakenBack } from './taken-back.ts'

/** How an experiment stands now: its verdict, and whether what it landed is still there. */
export function standingIn(campaign: Pick<Campaign, 'landings'>, experiment: Experiment): Standing {
  const { id, status, verdict, outcome, reason } = experiment
  return { status, verdict, outcome, reason, takenBack: isTakenBack(campaign, id) }
}
