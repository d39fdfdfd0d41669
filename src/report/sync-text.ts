import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { buildCampaignRefs, toShortRef } from '../model/refs.ts'
import { isAwaitingSync, type SyncObstacle, describeSyncObstacle } from '../model/sync-awaited.ts'
import { type CampaignSpecText, getCampaignSpec } from '../spec/recorded-spec.ts'
import { escapeMarkdown } from './markdown.ts'

export const AWAITS_SYNC = "a person's sync"

type SyncCampaign = Pick<Campaign, 'name' | 'default_branch'> & CampaignSpecText

/** What an experiment waits for that only a person can bring; null where it does not. */
export function findSyncWords(
  campaign: SyncCampaign,
  experiment: Experiment,
): ReturnType<typeof describeSyncObstacle> | null {
  const obstacle = experiment.awaits_sync?.obstacle
  return obstacle === undefined || !isAwaitingSync(experiment) ? null : buildSyncWords(campaign, obstacle)
}

export function buildSyncWords(
  campaign: SyncCampaign,
  obstacle: SyncObstacle,
): ReturnType<typeof describeSyncObstacle> {
  const { optimize } = buildCampaignRefs(getCampaignSpec(campaign).branches.prefix, campaign.name)
  return describeSyncObstacle(campaign, { optimize: toShortRef(optimize), obstacle })
}

const LONGEST = 400

/** For a pull request: what it waits for, what helps, and that nobody has to come back to it. */
export function renderSyncMarkdown(words: ReturnType<typeof describeSyncObstacle>): string {
  return `Waiting for ${AWAITS_SYNC}: ${renderSyncSentence(words)} It is measured by itself after that.`
}

export function renderSyncSentence({ because, next }: ReturnType<typeof describeSyncObstacle>): string {
  return `${escapeMarkdown(because, LONGEST)}. What helps: ${escapeMarkdown(next, LONGEST)}.`
}
