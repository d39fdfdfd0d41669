import type { Check } from '../forge/port.ts'
import type { Campaign } from '../model/campaign.ts'
import { greetingMark, type Unopened } from '../model/standstill.ts'
import { cell } from './markdown.ts'
import { syncSentence, wordsOn } from './sync-text.ts'

const LONGEST = 400

/** For somebody's pull request that comes while the campaign stands still. */
export function greetingText(campaign: Campaign, unopened: Unopened): string {
  return `${greetingMark(campaign, unopened)}\n${sentences(campaign, unopened)}\n`
}

/** Beside its head, so that nobody waits for a check that nobody makes. */
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

const RESUME = 'Somebody with write access lets it go on by the comment `/winnow resume`.'

function sentences(campaign: Campaign, { obstacle }: Unopened): string {
  const { name, status, status_reason } = campaign
  if (obstacle !== null)
    return `No round of campaign ${cell(name)} starts before a person does something: ${syncSentence(wordsOn(campaign, obstacle))} This becomes an experiment by itself after that.`
  const why = cell(status_reason ?? '', LONGEST)
  if (status === 'paused')
    return `Campaign ${cell(name)} is paused: ${why}. Nothing is measured meanwhile, and this becomes an experiment by itself when it goes on. ${RESUME}`
  return `Campaign ${cell(name)} has stopped: ${why}. This is not measured: it becomes an experiment if the campaign goes on, or when the next one begins. ${RESUME}`
}
