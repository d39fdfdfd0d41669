import type { Place } from '../engine/place.ts'
import type { Campaign } from '../model/campaign.ts'
import type { PullNumbers } from '../report/status-view.ts'

/** Numbers of the pull requests winnow opened itself, ended ones included: the ledger names only landed ones. */
export async function pullNumbers({ forge }: Place, campaign: Campaign): Promise<PullNumbers> {
  const branches = Object.values(campaign.experiments).flatMap(({ pull, branch }) =>
    pull === null && branch !== null ? [branch] : [],
  )
  const pulls = branches.length === 0 ? [] : await forge.list({ branches })
  return new Map(pulls.map(({ branch, number }) => [branch, number]))
}
