import type { CampaignProgress } from '../decide/progress.ts'
import { formatProgress } from '../decide/progress-text.ts'
import { formatCount } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { describeStatus } from '../model/describe-status.ts'
import { formatAdvice, summarizeCategories } from '../plan/strategy.ts'
import { listIdeasToTake, formatIdeaToTake } from './backlog-text.ts'
import { formatMeasuringMinutes, formatModelCost } from './cost-text.ts'
import { escapeMarkdown } from './markdown.ts'
import { renderPersonalTasks } from './needs-a-person.ts'
import { describeTableReason } from './reported-effect.ts'
import { describeVerdict } from './sentence.ts'
import { getExperimentState } from './standing.ts'
import { listKeptExperiments } from './taken-back.ts'
import { renderTally } from './tally.ts'

const KEPT_SHOWN = 5
const OTHERS_SHOWN = 8
const ALERTS_SHOWN = 3
const CATEGORIES_SHOWN = 8
const LEARNINGS_SHOWN = 2
const DIGEST_REASON = 600

/** What happened lately, in what a maintainer reads in a minute; derived like all views. */
export function renderDigest(campaign: Campaign, progress: CampaignProgress): string {
  const { name } = campaign
  const parts = [
    renderDigestSection('Kept lately', renderKeptLately(campaign)),
    renderDigestSection('Tried lately, and not kept', renderNotKeptLately(campaign)),
    renderDigestSection('What to try next, by category', renderStrategy(campaign)),
    renderDigestSection('Under way', describeOpenExperiments(campaign)),
    renderDigestSection('For a person', renderPersonSection(campaign)),
    renderDigestSection(
      'Ideas to take',
      listIdeasToTake(campaign).map(idea => `- ${escapeMarkdown(formatIdeaToTake(idea))}`),
    ),
  ]
  const state = `The campaign is ${escapeMarkdown(describeStatus(campaign), DIGEST_REASON)}.`
  const lines = [
    `# ${escapeMarkdown(name)}`,
    '',
    `${state} Progress: ${escapeMarkdown(formatProgress(progress))}.`,
    `${renderTally(campaign)}; ${describeSpent(campaign)}.`,
    ...parts.flat(),
  ]
  return `${lines.join('\n')}\n`
}

function renderDigestSection(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines]
}

function renderKeptLately(campaign: Campaign): string[] {
  const standing = new Set(listKeptExperiments(campaign).map(({ id }) => id))
  const landed = campaign.landings.flatMap(({ experiment }) => campaign.experiments[experiment] ?? [])
  const latest = landed.filter(({ id }) => standing.has(id)).slice(-KEPT_SHOWN)
  return latest.reverse().map(each => renderDigestLine(campaign, each))
}

function renderNotKeptLately(campaign: Campaign): string[] {
  const standing = new Set(listKeptExperiments(campaign).map(({ id }) => id))
  const others = Object.values(campaign.experiments).filter(
    ({ id, status }) => status === 'ended' && !standing.has(id),
  )
  return others
    .slice(-OTHERS_SHOWN)
    .reverse()
    .map(each => renderDigestLine(campaign, each))
}

function renderDigestLine(campaign: Campaign, experiment: Experiment): string {
  const { id, hypothesis } = experiment
  const reason = describeTableReason(campaign, experiment)
  const verdict = describeVerdict(getExperimentState(campaign, experiment))
  return `- ${id}, ${verdict}: ${escapeMarkdown(hypothesis)}${reason === '' ? '' : ` (${escapeMarkdown(reason)})`}`
}

/** What works and what does not, each kind with the latest that was learned of it. */
function renderStrategy(campaign: Campaign): string[] {
  return summarizeCategories(campaign)
    .slice(0, CATEGORIES_SHOWN)
    .flatMap(standing => [
      `- ${escapeMarkdown(standing.category)}: ${formatAdvice(standing)}`,
      ...standing.learned
        .slice(0, LEARNINGS_SHOWN)
        .map(({ id, text }) => `  - ${id} learned: ${escapeMarkdown(text)}`),
    ])
}

function describeOpenExperiments({ experiments }: Campaign): string[] {
  const open = Object.values(experiments).filter(({ status }) => status !== 'ended' && status !== 'deferred')
  return open.length === 0 ? [] : [`${formatCount(open.length, 'experiment')} open.`]
}

function renderPersonSection(campaign: Campaign): string[] {
  const { alerts, proposers } = campaign
  const benched = Object.entries(proposers).filter(([, { benched: is }]) => is)
  return [
    ...renderPersonalTasks(campaign).map(line => `- ${escapeMarkdown(line)}`),
    ...benched.map(([who]) => `- ${escapeMarkdown(who)} is asked for no more ideas`),
    ...alerts
      .filter(({ code }) => code !== 'proposer-benched')
      .slice(-ALERTS_SHOWN)
      .map(({ at, message }) => `- ${at.slice(0, 10)}: ${escapeMarkdown(message)}`),
  ]
}

function describeSpent(campaign: Campaign): string {
  return [`${formatMeasuringMinutes(campaign)} spent`, ...formatModelCost(campaign)].join(', ')
}
