import { LedgerError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import { type Campaign, createEmptyCampaign } from '../model/campaign.ts'
import { applyEvent, FoldedCopy } from '../model/fold/fold.ts'
import type { Oid } from '../model/ids.ts'
import { readCheckpoint, readCheckpointSeq } from './checkpoint.ts'
import { type ChainHead, createChainError } from './event-file.ts'
import { continueEvents, readTip, type Tip } from './read-events.ts'

export interface LoadedCampaign {
  campaign: Campaign
  tip: Tip
  lastSha: string
  /** Number of events that the tip's checkpoint covers, for `isCheckpointDue`. */
  checkpointSeq: number
  /** The reason why an existing checkpoint was not used. */
  checkpointIgnored: string | null
}

const CHAIN_START: ChainHead = { seq: 0, head: null }

export async function loadCampaign(repo: Repository, tipCommit: Oid): Promise<LoadedCampaign> {
  const tip = await readTip(repo, tipCommit)
  const checkpoint = await readCheckpoint(repo, tip)
  if (!checkpoint.usable) return foldUntilTip(repo, tip, checkpoint.ignored)
  const { campaign, head } = checkpoint
  const from = campaign.seq
  await foldNewEvents(repo, tip, campaign, { seq: from, head })
  return buildLoadedCampaign(campaign, tip, { checkpointSeq: from, checkpointIgnored: null })
}

/** Folds every event from the first and ignores the checkpoint, as audits require. */
export async function foldAllEvents(repo: Repository, tipCommit: Oid): Promise<LoadedCampaign> {
  return foldUntilTip(repo, await readTip(repo, tipCommit), null)
}

/** Folds only the new events. The previous campaign stays as it is. */
export async function continueCampaign(
  repo: Repository,
  previous: LoadedCampaign,
  newTipCommit: Oid,
): Promise<LoadedCampaign> {
  const { tip: old } = previous
  if (old.commit === newTipCommit) return previous
  if (old.commit === null || !(await repo.isAncestor(old.commit, newTipCommit))) {
    return loadCampaign(repo, newTipCommit)
  }
  const tip = await readTip(repo, newTipCommit)
  const copy = new FoldedCopy(previous.campaign)
  await foldNewEvents(repo, tip, copy.draft, old)
  return buildLoadedCampaign(copy.finish(), tip, {
    checkpointSeq: await readCheckpointSeq(repo, tip),
    checkpointIgnored: null,
  })
}

async function foldUntilTip(repo: Repository, tip: Tip, ignored: string | null): Promise<LoadedCampaign> {
  const campaign = createEmptyCampaign()
  await foldNewEvents(repo, tip, campaign, CHAIN_START)
  return buildLoadedCampaign(campaign, tip, { checkpointSeq: 0, checkpointIgnored: ignored })
}

async function foldNewEvents(
  repo: Repository,
  tip: Tip,
  campaign: Campaign,
  start: ChainHead,
): Promise<void> {
  if (tip.tree === null) throw new LedgerError('there is no ledger')
  for await (const event of continueEvents(repo, tip.tree, start)) applyEvent(campaign, event)
  if (tip.seq === start.seq && tip.head !== start.head)
    throw createChainError(tip.seq - 1, 'it is not the one folded before')
  if (campaign.seq !== tip.seq) {
    throw new LedgerError(`folded ${campaign.seq} events, but the ledger has ${tip.seq}`, campaign.seq)
  }
}

function buildLoadedCampaign(
  campaign: Campaign,
  tip: Tip,
  checkpoint: Pick<LoadedCampaign, 'checkpointSeq' | 'checkpointIgnored'>,
): LoadedCampaign {
  if (tip.head === null) throw new LedgerError('there is no ledger')
  return { campaign, tip, lastSha: tip.head, ...checkpoint }
}
