import type { Progress } from '../decide/progress.ts'
import { progressText } from '../decide/progress-text.ts'
import { plural } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { describeStatus } from '../model/describe-status.ts'
import { adviceText, strategyOf } from '../plan/strategy.ts'
import { ideasToTake, toTakeLine } from './backlog-text.ts'
import { minutesText, moneyText } from './cost-text.ts'
import { cell } from './markdown.ts'
import { personalTaskLines } from './needs-a-person.ts'
import { tableReason } from './reported-effect.ts'
import { verdictPhrase } from './sentence.ts'
import { standingIn } from './standing.ts'
import { keptExperiments } from './taken-back.ts'
import { tallyText } from './tally.ts'

const KEPT_SHOWN = 5
const OTHERS_SHOWN = 8
const ALERTS_SHOWN = 3
const CATEGORIES_SHOWN = 8
const LEARNINGS_SHOWN = 2
const REASON = 600

/** What happened lately, in what a maintainer reads in a minute; derived like all views. */
export function digest(campaign: Campaign, progress: Progress): string {
  const { name } = campaign
  const parts = [
    section('Kept lately', keptLines(campaign)),
    section('Tried lately, and not kept', otherLines(campaign)),
    section('What to try next, by category', strategyLines(campaign)),
    section('Under way', underWay(campaign)),
    section('For a person', forPerson(campaign)),
    section(
      'Ideas to take',
      ideasToTake(campaign).map(idea => `- ${cell(toTakeLine(idea))}`),
    ),
  ]
  const state = `The campaign is ${cell(describeStatus(campaign), REASON)}.`
  const lines = [
    `# ${cell(name)}`,
    '',
    `${state} Progress: ${cell(progressText(progress))}.`,
    `${tallyText(campaign)}; ${spentText(campaign)}.`,
    ...parts.flat(),
  ]
  return `${lines.join('\n')}\n`
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines]
}

function keptLines(campaign: Campaign): string[] {
  const standing = new Set(keptExperiments(campaign).map(({ id }) => id))
  const landed = campaign.landings.flatMap(({ experiment }) => campaign.experiments[experiment] ?? [])
  const latest = landed.filter(({ id }) => standing.has(id)).slice(-KEPT_SHOWN)
  return latest.reverse().map(each => line(campaign, each))
}

function otherLines(campaign: Campaign): string[] {
  const standing = new Set(keptExperiments(campaign).map(({ id }) => id))
  const others = Object.values(campaign.experiments).filter(
    ({ id, status }) => status === 'ended' && !standing.has(id),
  )
  return others
    .slice(-OTHERS_SHOWN)
    .reverse()
    .map(each => line(campaign, each))
}

function line(campaign: Campaign, experiment: Experiment): string {
  const { id, hypothesis } = experiment
  const reason = tableReason(campaign, experiment)
  const verdict = verdictPhrase(standingIn(campaign, experiment))
  return `- ${id}, ${verdict}: ${cell(hypothesis)}${reason === '' ? '' : ` (${cell(reason)})`}`
}

/** What works and what does not, each kind with the latest that was learned of it. */
function strategyLines(campaign: Campaign): string[] {
  return strategyOf(campaign)
    .slice(0, CATEGORIES_SHOWN)
    .flatMap(standing => [
      `- ${cell(standing.category)}: ${adviceText(standing)}`,
      ...standing.learned.slice(0, LEARNINGS_SHOWN).map(({ id, text }) => `  - ${id} learned: ${cell(text)}`),
    ])
}

function underWay({ experiments }: Campaign): string[] {
  const open = Object.values(experiments).filter(({ status }) => status !== 'ended' && status !== 'deferred')
  return open.length === 0 ? [] : [`${plural(open.length, 'experiment')} open.`]
}

function forPerson(campaign: Campaign): string[] {
  const { alerts, proposers } = campaign
  const benched = Object.entries(proposers).filter(([, { benched: is }]) => is)
  return [
    ...personalTaskLines(campaign).map(line => `- ${cell(line)}`),
    ...benched.map(([who]) => `- ${cell(who)} is asked for no more ideas`),
    ...alerts
      .filter(({ code }) => code !== 'proposer-benched')
      .slice(-ALERTS_SHOWN)
      .map(({ at, message }) => `- ${at.slice(0, 10)}: ${cell(message)}`),
  ]
}

function spentText(campaign: Campaign): string {
  return [`${minutesText(campaign)} spent`, ...moneyText(campaign)].join(', ')
}
