import { plural } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import { keptExperiments } from './taken-back.ts'

/** The one count of a campaign: `ended` is what `stopping.max_iterations` counts, so refused ones are not in it. */
export function tallyText(campaign: Campaign): string {
  const opened = Object.keys(campaign.experiments).length
  const { counts } = campaign
  const uncounted = (counts.refused ?? 0) + (counts.withdrawn ?? 0)
  return [
    `${plural(opened, 'experiment')} opened`,
    `${campaign.ended} ended`,
    ...(uncounted === 0 ? [] : [`${uncounted} refused or withdrawn`]),
    `${keptExperiments(campaign).length} kept`,
  ].join(', ')
}
