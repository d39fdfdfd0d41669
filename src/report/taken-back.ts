import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { isLanded } from '../model/outcome.ts'

/** Its landing was undone since: the verdict stands, and yet nothing of it is on the branch. */
export function isReverted({ landings }: Pick<Campaign, 'landings'>, id: Experiment['id']): boolean {
  const own = landings.filter(({ experiment }) => experiment === id)
  return own.length > 0 && own.every(({ reverted }) => reverted !== null)
}

/** What the campaign has to show for itself now. */
export function listKeptExperiments(campaign: Pick<Campaign, 'experiments' | 'landings'>): Experiment[] {
  return Object.values(campaign.experiments).filter(
    ({ id, outcome }) =>
      outcome !== null && isLanded(outcome) && outcome !== 'revert_landed' && !isReverted(campaign, id),
  )
}
