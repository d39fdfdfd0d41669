import type { CampaignContext } from '../engine/place.ts'
import type { Campaign } from '../model/campaign.ts'
import { toShortRef } from '../model/refs.ts'
import type { PullNumbers } from '../report/status-view.ts'

/** Numbers of the pull requests winnow opened itself, ended ones included: the ledger names only landed ones. */
export async function listPullNumbers({ forge }: CampaignContext, campaign: Campaign): Promise<PullNumbers> {
  const branches = Object.values(campaign.experiments).flatMap(({ pull, branch }) =>
    pull === null && branch !== null ? [branch] : [],
  )
  const base = toShortRef(campaign.default_branch)
  const elsewhere = Object.values(campaign.picks).flatMap(({ branch }) =>
    branch === null ? [] : [{ branch, base }],
  )
  const asked = branches.length + elsewhere.length > 0
  const pulls = asked ? await forge.list({ branches, elsewhere }) : []
  return new Map(pulls.map(({ branch, number }) => [branch, number]))
}
