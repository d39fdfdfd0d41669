import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { campaignRefs, shortRef } from '../model/refs.ts'
import { awaitsSync, type SyncObstacle, syncWords } from '../model/sync-awaited.ts'
import { type Ruled, specOf } from '../spec/recorded-spec.ts'
import { cell } from './markdown.ts'

export const AWAITS_SYNC = "a person's sync"

type Told = Pick<Campaign, 'name' | 'default_branch'> & Ruled

/** What an experiment waits for that only a person can bring; null where it does not. */
export function syncWordsOf(campaign: Told, experiment: Experiment): ReturnType<typeof syncWords> | null {
  const obstacle = experiment.awaits_sync?.obstacle
  return obstacle === undefined || !awaitsSync(experiment) ? null : wordsOn(campaign, obstacle)
}

export function wordsOn(campaign: Told, obstacle: SyncObstacle): ReturnType<typeof syncWords> {
  const { optimize } = campaignRefs(specOf(campaign).branches.prefix, campaign.name)
  return syncWords(campaign, { optimize: shortRef(optimize), obstacle })
}

const LONGEST = 400

/** For a pull request: what it waits for, what helps, and that nobody has to come back to it. */
export function syncMarkdown(words: ReturnType<typeof syncWords>): string {
  return `Waiting for ${AWAITS_SYNC}: ${syncSentence(words)} It is measured by itself after that.`
}

export function syncSentence({ because, next }: ReturnType<typeof syncWords>): string {
  return `${cell(because, LONGEST)}. What helps: ${cell(next, LONGEST)}.`
}
