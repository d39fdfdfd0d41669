import type { Check } from '../forge/port.ts'
import type { Campaign } from '../model/campaign.ts'
import { greetingMark, type Unopened } from '../model/standstill.ts'
import { describeStatus } from '../model/describe-status.ts'
import { cell } from './markdown.ts'
import { syncSentence, wordsOn } from './sync-text.ts'

const LONGEST = 600

/** A comment on a new pull request while the campaign is paused or stopped. */
export function greetingText(campaign: Campaign, unopened: Unopened): string {
  return `${greetingMark(campaign, unopened)}\n${sentences(campaign, unopened)}\n`
}

/** A completed check, so that the author does not wait for one that never starts. */
export function greetingCheck(campaign: Campaign, unopened: Unopened): Check {
  const { number, head } = unopened
  const name = `winnow (${campaign.name})`
  const title = titleOf(campaign, unopened)
  return { name, head, id: `pull-${number}`, state: 'neutral', title, summary: sentences(campaign, unopened) }
}

function titleOf({ status }: Campaign, { obstacle }: Unopened): string {
  if (obstacle !== null) return 'Waiting for the default branch to be merged in'
  return status === 'paused' ? 'Waiting: the campaign is paused' : 'The campaign has stopped'
}

const RESUME = 'A person with write access continues it with the comment `/winnow resume`.'

function sentences(campaign: Campaign, { obstacle }: Unopened): string {
  const { name, status } = campaign
  if (obstacle !== null)
    return `Campaign ${cell(name)} waits for a person: ${syncSentence(wordsOn(campaign, obstacle))} After that this pull request is measured by itself.`
  const said = describeStatus(campaign)
  if (status === 'paused')
    return `Campaign ${cell(name)} is ${cell(said, LONGEST)}. This pull request is measured once the campaign goes on. ${RESUME}`
  const stopped = said.startsWith('stopped by ') ? `was ${said}` : `has ${said}`
  return `Campaign ${cell(name)} ${cell(stopped, LONGEST)}. This pull request is measured if the campaign goes on, or by the next campaign. ${RESUME}`
}
