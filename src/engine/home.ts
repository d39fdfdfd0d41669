import { UserError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import { toShortRef } from '../model/refs.ts'
import { type CampaignContext, getWhereabouts } from './place.ts'

type HomeContext = Pick<CampaignContext, 'name' | 'refs' | 'forge'>
type RecordedHome = Pick<Campaign, 'host' | 'status'>

/**
 * Whether its pull requests are kept where this process sees none of them. An old ledger that no job of GitHub Actions
 * wrote into is of one machine.
 */
export function isAway({ forge }: Pick<CampaignContext, 'forge'>, { host, status }: RecordedHome): boolean {
  return status !== 'none' && (host ?? 'local') !== forge.kind
}

/** What cannot be seen from here would look as if people had taken it away: nothing is planned, moved or measured. */
export function requireHome(place: HomeContext, campaign: RecordedHome): void {
  if (!isAway(place, campaign)) return
  const { name, refs } = place
  if (campaign.host !== 'github') {
    throw new UserError(
      `campaign ${name} lives on one machine: its pull requests are kept beside its branches, and GitHub has none of them`,
      {
        fix: 'go on there with winnow run; or put it aside there with winnow archive, and the next wake-up begins one that lives here',
      },
    )
  }
  const optimize = toShortRef(refs.optimize)
  throw new UserError(
    `campaign ${name} lives on GitHub: its pull requests cannot be seen from here, so nothing is planned or measured here`,
    {
      fix: `its next wake-up goes on with it; to bring an idea, push a branch and open a pull request against ${optimize}; to measure on this machine alone, winnow compare`,
    },
  )
}

/** What the spec of a campaign may ask for: of where it lives, whoever reads it. */
export function getCampaignWhereabouts({ forge }: Pick<CampaignContext, 'forge'>, campaign: RecordedHome) {
  return isAway({ forge }, campaign) && campaign.host === 'github' ? 'github' : getWhereabouts(forge)
}
