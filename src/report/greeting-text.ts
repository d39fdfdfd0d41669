import type { Check } from '../forge/port.ts'
import type { Campaign } from '../model/campaign.ts'
import { buildPausedMark, type UnopenedPull } from '../model/standstill.ts'
import { describeStatus } from '../model/describe-status.ts'
import { escapeMarkdown } from './markdown.ts'
import { renderSyncSentence, buildSyncWords } from './sync-text.ts'

const LONGEST = 600

/** A comment on a new pull request while the campaign is paused or stopped. */
export function renderPausedComment(campaign: Campaign, unopened: UnopenedPull): string {
  return `${buildPausedMark(campaign, unopened)}\n${describePaused(campaign, unopened)}\n`
}

/** A completed check, so that the author does not wait for one that never starts. */
export function buildPausedCheck(campaign: Campaign, unopened: UnopenedPull): Check {
  const { number, head } = unopened
  const name = `winnow (${campaign.name})`
  const title = selectPausedTitle(campaign, unopened)
  return {
    name,
    head,
    id: `pull-${number}`,
    state: 'neutral',
    title,
    summary: describePaused(campaign, unopened),
  }
}

function selectPausedTitle({ status }: Campaign, { obstacle }: UnopenedPull): string {
  if (obstacle !== null) return 'Waiting for the default branch to be merged in'
  return status === 'paused' ? 'Waiting: the campaign is paused' : 'The campaign has stopped'
}

const RESUME = 'A person with write access continues it with the comment `/winnow resume`.'

function describePaused(campaign: Campaign, { obstacle }: UnopenedPull): string {
  const { name, status } = campaign
  if (obstacle !== null)
    return `Campaign ${escapeMarkdown(name)} waits for a person: ${renderSyncSentence(buildSyncWords(campaign, obstacle))} After that this pull request is measured by itself.`
  const said = describeStatus(campaign)
  if (status === 'paused')
    return `Campaign ${escapeMarkdown(name)} is ${escapeMarkdown(said, LONGEST)}. This pull request is measured once the campaign goes on. ${RESUME}`
  const stopped = said.startsWith('stopped by ') ? `was ${said}` : `has ${said}`
  return `Campaign ${escapeMarkdown(name)} ${escapeMarkdown(stopped, LONGEST)}. This pull request is measured if the campaign goes on, or by the next campaign. ${RESUME}`
}
