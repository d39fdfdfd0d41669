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
import { findNearestWord } from '../spec/nearest-word.ts'

/** Accepts exp-007, 007 and 7. */
export function findNamedExperiment(campaign: Campaign, given: string): Experiment {
  const id = /^\d+$/.test(given) ? `exp-${given.padStart(3, '0')}` : given
  const found = listSubjects(campaign).find(each => each.id === id)
  if (found !== undefined) return found
  const ids = listSubjects(campaign).map(each => each.id)
  const near = findNearestWord(id, ids)
  throw new UserError(`there is no experiment ${given} in campaign ${campaign.name}`, {
    fix:
      near === undefined
        ? ids.length === 0
          ? 'the campaign has no experiments yet; winnow run or winnow try starts one'
          : 'winnow status lists them'
        : `did you mean ${near}?`,
  })
}

/** Accepts idea-003, 003 and 3. */
export function findNamedIdea({ backlog, name }: Campaign, given: string): BacklogIdea {
  const wanted = /^\d+$/.test(given) ? formatIdeaName({ number: Number(given) }) : given
  const found = backlog.find(idea => formatIdeaName(idea) === wanted)
  if (found !== undefined) return found
  const near = findNearestWord(wanted, backlog.map(formatIdeaName))
  throw new UserError(`there is no ${given} in the backlog of campaign ${name}`, {
    fix: near === undefined ? 'winnow idea list shows what there is' : `did you mean ${near}?`,
  })
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
