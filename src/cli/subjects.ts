import type { CampaignContext } from '../engine/campaign/context.ts'
import { requireLedger } from '../engine/campaign/recover.ts'
import { UserError } from '../errors.ts'
import { readEvents } from '../ledger/read-events.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import type { LedgerEvent } from '../model/event.ts'
import { type Experiment, listSubjects } from '../model/experiment.ts'
import { formatIdeaName } from '../model/fold/proposers.ts'
import { toShortRef } from '../model/ids.ts'
import type { PullNumbers } from '../report/status.ts'
import { suggestWord } from '../spec/nearest-word.ts'

/** Accepts exp-007, 007 and 7. */
export function findNamedExperiment(campaign: Campaign, given: string): Experiment {
  const id = /^\d+$/.test(given) ? `exp-${given.padStart(3, '0')}` : given
  const subjects = listSubjects(campaign)
  const found = subjects.find(each => each.id === id)
  if (found !== undefined) return found
  const ids = subjects.map(each => each.id)
  const none = 'the campaign has no experiments yet; winnow run or winnow try starts one'
  throw new UserError(`there is no experiment ${given} in campaign ${campaign.name}`, {
    fix: suggestWord(id, ids, ids.length === 0 ? none : 'winnow status lists them'),
  })
}

/** Accepts idea-003, 003 and 3. */
export function findNamedIdea({ backlog, name }: Campaign, given: string): BacklogIdea {
  const wanted = /^\d+$/.test(given) ? formatIdeaName({ number: Number(given) }) : given
  const found = backlog.find(idea => formatIdeaName(idea) === wanted)
  if (found !== undefined) return found
  throw new UserError(`there is no ${given} in the backlog of campaign ${name}`, {
    fix: suggestWord(wanted, backlog.map(formatIdeaName), 'winnow idea list shows what there is'),
  })
}

export function listLandedIds({ landings }: Campaign): string[] {
  return landings.flatMap(({ experiment, reverted }) => (reverted === null ? [experiment] : []))
}

export function describeKeptChanges(ids: readonly string[]): string {
  return ids.length === 0 ? 'the campaign has no kept change' : `kept changes: ${ids.join(', ')}`
}

/** Asks GitHub for the pull requests that winnow opened, because the ledger names only landed ones. */
export async function listPullNumbers({ forge }: CampaignContext, campaign: Campaign): Promise<PullNumbers> {
  if (forge === null) return new Map()
  const branches = Object.values(campaign.experiments).flatMap(({ pull, branch }) =>
    pull === null && branch !== null ? [branch] : [],
  )
  const base = toShortRef(campaign.default_branch)
  const elsewhere = Object.values(campaign.picks).flatMap(({ branch }) =>
    branch === null ? [] : [{ branch, base }],
  )
  const hasUnknown = branches.length + elsewhere.length > 0
  const pulls = hasUnknown ? await forge.list({ branches, elsewhere }) : []
  return new Map(pulls.map(({ branch, number }) => [branch, number]))
}

export async function* readLedgerEvents(campaignContext: CampaignContext): AsyncGenerator<LedgerEvent, void> {
  const { repository, refs } = campaignContext
  const tip = await requireLedger(campaignContext, (await repository.remoteRefs([refs.state])).refs)
  await repository.fetch([{ ref: refs.state, oid: tip }])
  yield* readEvents(repository, tip, 0)
}
