import { toOneLine, toSentenceCase } from '../model/text.ts'
import { type CampaignProgress, computeProgress, formatProgress } from '../decide/progress.ts'
import { formatCount } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { listDisabledProposers } from '../model/fold/proposers.ts'
import { describeStatus } from '../model/status.ts'
import { formatAdvice, listUntriedCategories, summarizeCategories } from '../plan/backlog.ts'
import type { Spec } from '../spec/schema.ts'
import { formatIdeaToTake, listIdeasToTake } from './backlog.ts'
import { renderCampaignCharts } from './campaign-charts.ts'
import { buildChartData, renderBadge, renderChart } from './charts.ts'
import { getExperimentState, renderPersonalTasks } from './experiment-state.ts'
import { escapeMarkdown } from './markdown.ts'
import { describeCalibrationNoise } from './metrics.ts'
import { describeResumeHint } from './resume-hint.ts'
import { countRounds, formatRounds } from './rounds.ts'
import { describeSingleMachine } from './run-summary.ts'
import { computeCampaignProgress, formatMeasuringMinutes, formatModelCost, renderTally } from './status.ts'
import { renderSummary } from './summary.ts'
import { describeTableReason, describeVerdict, listKeptExperiments } from './verdict-text.ts'

export const BADGE_FILE = 'badge.svg'

/** A pure function of the events, so the files can be deleted and rebuilt. */
export function renderLedgerViews(campaign: Campaign, spec: Spec): Record<string, string> {
  const progress = computeProgress(campaign, spec)
  return {
    'README.md': renderLedgerReadme(campaign),
    'digest.md': renderDigest(campaign, spec, progress),
    'summary.md': renderSummary(campaign, spec, progress),
    'chart.svg':
      campaign.epochs.length > 0
        ? renderCampaignCharts(campaign, spec, [])
        : renderChart(campaign.name, buildChartData(campaign, progress)),
    [BADGE_FILE]: renderBadge(campaign, progress),
  }
}

// README

const README_ROWS = 30
const MAX_REASON_LENGTH = 600

/** The front page of the state branch. */
export function renderLedgerReadme(campaign: Campaign): string {
  const closed = Object.values(campaign.experiments)
    .filter(({ status }) => status === 'ended')
    .slice(-README_ROWS)
    .reverse()
  const machine = describeSingleMachine(campaign)
  const noise = describeCalibrationNoise(campaign.calibration)
  const resumeHint = describeResumeHint(campaign)
  return [
    `# ${escapeMarkdown(campaign.name)}`,
    '',
    `**Progress: ${escapeMarkdown(formatProgress(computeCampaignProgress(campaign)))}.**`,
    '',
    '![gain and state](badge.svg)',
    '',
    '![the primary metric over experiments](chart.svg)',
    '',
    'Recent activity: [digest.md](digest.md). The whole campaign: [summary.md](summary.md).',
    '',
    `Campaign ${escapeMarkdown(describeStatus(campaign), MAX_REASON_LENGTH)}.`,
    ...(resumeHint === null ? [] : [`To continue, ${escapeMarkdown(resumeHint, 400)}.`]),
    `${renderTally(campaign)}.`,
    ...(machine === null ? [] : [machine]),
    ...(noise === null ? [] : [`${noise}.`]),
    `Incumbent \`${campaign.incumbent.commit}\`, counted from \`${campaign.origin?.at.commit ?? campaign.start.commit}\`.`,
    '',
    `The last ${closed.length} with a verdict:`,
    '',
    '| experiment | verdict | idea | reason |',
    '|---|---|---|---|',
    ...closed.map(
      x =>
        `| ${x.id} | ${describeVerdict(getExperimentState(campaign, x))} | ${escapeMarkdown(toSentenceCase(x.hypothesis))} | ${escapeMarkdown(describeTableReason(campaign, x))} |`,
    ),
    '',
    `As of event ${campaign.seq - 1}. winnow derives all of this from \`events/\`, which is append-only. \`winnow audit\` verifies it.`,
    '',
  ].join('\n')
}

// Digest

const KEPT_SHOWN = 5
const OTHERS_SHOWN = 8
const ALERTS_SHOWN = 3
const CATEGORIES_SHOWN = 8
const LEARNINGS_SHOWN = 2
const RECENT_LEARNINGS = 6
const LONGEST_LEARNING = 300

/** A one-minute summary of recent events for a maintainer. */
export function renderDigest(campaign: Campaign, spec: Spec, progress: CampaignProgress): string {
  const spent = [`${formatMeasuringMinutes(campaign)} spent`, ...formatModelCost(campaign)].join(', ')
  const parts = [
    renderDigestSection('Recently kept', renderKeptLately(campaign)),
    renderDigestSection('Recently tried and not kept', renderNotKeptLately(campaign)),
    renderDigestSection('What to try next, by category', renderStrategy(campaign)),
    renderDigestSection('Learned most recently', renderLearnings(campaign)),
    renderDigestSection('Not tried yet', renderFrontier(campaign)),
    renderDigestSection('Under way', describeOpenExperiments(campaign)),
    renderDigestSection('Needs you', renderPersonSection(campaign)),
    renderDigestSection(
      'Ideas to take',
      listIdeasToTake(campaign).map(idea => `- ${escapeMarkdown(formatIdeaToTake(idea))}`),
    ),
  ]
  const rounds = countRounds(campaign, spec)
  const state = `The campaign is ${escapeMarkdown(describeStatus(campaign), MAX_REASON_LENGTH)}.`
  const lines = [
    `# ${escapeMarkdown(campaign.name)}`,
    '',
    `${state} Progress: ${escapeMarkdown(formatProgress(progress))}.`,
    ...(rounds === null
      ? []
      : [`${toSentenceCase(formatRounds(rounds))}, with ${formatCount(rounds.members, 'experiment')}.`]),
    `${renderTally(campaign)}; ${spent}.`,
    ...parts.flat(),
  ]
  return `${lines.join('\n')}\n`
}

function renderDigestSection(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines]
}

function renderKeptLately(campaign: Campaign): string[] {
  const kept = listKeptExperiments(campaign)
  const landed = campaign.landings.flatMap(({ experiment }) => campaign.experiments[experiment] ?? [])
  const latest = landed.filter(each => kept.includes(each)).slice(-KEPT_SHOWN)
  return latest.reverse().map(each => renderDigestLine(campaign, each))
}

function renderNotKeptLately(campaign: Campaign): string[] {
  const kept = new Set(listKeptExperiments(campaign))
  const ended = Object.values(campaign.experiments).filter(({ status }) => status === 'ended')
  const latest = ended.filter(each => !kept.has(each)).slice(-OTHERS_SHOWN)
  return latest.reverse().map(each => renderDigestLine(campaign, each))
}

function renderDigestLine(campaign: Campaign, experiment: Experiment): string {
  const { id, hypothesis } = experiment
  const reason = describeTableReason(campaign, experiment)
  const verdict = describeVerdict(getExperimentState(campaign, experiment))
  return `- ${id}, ${verdict}: ${escapeMarkdown(hypothesis)}${reason === '' ? '' : ` (${escapeMarkdown(reason)})`}`
}

function renderStrategy(campaign: Campaign): string[] {
  return summarizeCategories(campaign)
    .slice(0, CATEGORIES_SHOWN)
    .flatMap(category => [
      `- ${escapeMarkdown(category.category)}: ${formatAdvice(category)}`,
      ...category.learned
        .slice(0, LEARNINGS_SHOWN)
        .map(({ id, text }) => `  - ${id} learned: ${escapeMarkdown(text)}`),
    ])
}

/** Newest first; those of the latest round are marked. */
function renderLearnings(campaign: Campaign): string[] {
  const round = campaign.round?.number ?? null
  const learned = Object.values(campaign.experiments).filter(
    ({ learnings }) => (learnings ?? '').trim() !== '',
  )
  return learned
    .toReversed()
    .slice(0, RECENT_LEARNINGS)
    .map(each => {
      const now = each.round !== null && each.round === round ? ' (this round)' : ''
      return `- ${each.id}${now}: ${escapeMarkdown(toOneLine(each.learnings ?? '', LONGEST_LEARNING))}`
    })
}

function renderFrontier(campaign: Campaign): string[] {
  return listUntriedCategories(campaign)
    .slice(0, CATEGORIES_SHOWN)
    .map(({ category, ideas }) => {
      const [first] = ideas
      const waiting =
        first === undefined
          ? 'no idea yet'
          : `${formatCount(ideas.length, 'idea')}, such as ${formatIdeaToTake(first)}`
      return `- ${escapeMarkdown(category)}: ${escapeMarkdown(waiting)}`
    })
}

function describeOpenExperiments({ experiments }: Campaign): string[] {
  const open = Object.values(experiments).filter(({ status }) => status !== 'ended' && status !== 'deferred')
  return open.length === 0 ? [] : [`${formatCount(open.length, 'experiment')} open.`]
}

function renderPersonSection(campaign: Campaign): string[] {
  const disabled = 'is disabled: it failed to produce a usable idea several times in a row'
  return [
    ...renderPersonalTasks(campaign).map(line => `- ${escapeMarkdown(line)}`),
    ...listDisabledProposers(campaign).map(who => `- ${escapeMarkdown(who)} ${disabled}`),
    ...campaign.alerts
      .filter(({ code }) => code !== 'proposer-disabled')
      .slice(-ALERTS_SHOWN)
      .map(({ at, message }) => `- ${at.slice(0, 10)}: ${escapeMarkdown(message)}`),
  ]
}
