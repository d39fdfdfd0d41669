import { type CampaignProgress, formatProgress, isProgressByPairs } from '../decide/progress.ts'
import { listObjectives } from '../decide/metrics.ts'
import { formatCount, formatMetricChange } from '../decide/wording.ts'
import { type Campaign, getIncumbentMetrics, isReverted } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { getOwnValue } from '../model/own-value.ts'
import { aggregateSnapshot, type MetricValue } from '../model/report.ts'
import { describeStatus } from '../model/status.ts'
import { quoteCode, toSentenceCase } from '../model/text.ts'
import { isBetterAlone, type Outcome } from '../model/verdict.ts'
import { formatAdvice, listUntriedCategories, summarizeCategories } from '../plan/backlog.ts'
import type { Spec } from '../spec/schema.ts'
import { escapeMarkdown } from './markdown.ts'
import { formatMetricValue } from './metrics.ts'
import { countRounds, formatRounds } from './rounds.ts'
import { listNextSteps } from './run-summary.ts'
import { buildCampaignResult, formatCampaignCost } from './status.ts'
import { formatClock } from './terminal.ts'
import { describeTableReason, listKeptExperiments } from './verdict-text.ts'

const MOST_SHOWN = 20
const MAX_REASON_LENGTH = 600

/** The whole campaign for its owner: what it did, gained, cost and left. A file on the branch of the ledger. */
export function renderSummary(campaign: Campaign, spec: Spec, progress: CampaignProgress): string {
  const result = buildCampaignResult(campaign)
  const { duration_seconds: seconds, started_at, deferred } = result
  const rounds = countRounds(campaign, spec)
  const kept = listKeptExperiments(campaign)
  const where = { prefix: spec.branches.prefix, remote: null }
  const duration = seconds === null ? 'not started' : `${formatClock(seconds)}, from ${started_at ?? ''}`
  const sections = [
    renderSection('Baseline -> final', renderMetricChanges(campaign, spec, progress)),
    renderSection(
      'Key improvements',
      kept.map((each, at) => `${at + 1}. ${describeIdea(campaign, each)}`),
    ),
    renderSection(
      'Better alone, not kept',
      listShown(campaign, ({ outcome }) => isBetterAlone(outcome)),
    ),
    renderSection(
      'Deferred',
      deferred.map(
        ({ id, hypothesis, packages, approve }) =>
          `- ${id}: ${escapeMarkdown(hypothesis)}; waits for ${escapeMarkdown(packages.join(', ') || 'a person')}: \`${approve}\``,
      ),
    ),
    renderSection(
      'By category',
      summarizeCategories(campaign).map(each => `- ${escapeMarkdown(each.category)}: ${formatAdvice(each)}`),
    ),
    renderSection(
      'Not tried',
      listUntriedCategories(campaign).map(
        ({ category, ideas }) =>
          `- ${escapeMarkdown(category)}: ${ideas.length === 0 ? 'no idea yet' : formatCount(ideas.length, 'idea')}`,
      ),
    ),
    renderSection(
      'Next steps',
      listNextSteps(campaign, result, where).map(
        ([command = '', why = '']) => `- ${quoteCode(command, 200)}: ${why}`,
      ),
    ),
  ]
  const lines = [
    `# Summary of ${escapeMarkdown(campaign.name)}`,
    '',
    `The campaign is ${escapeMarkdown(describeStatus(campaign), MAX_REASON_LENGTH)}.`,
    '',
    `- Duration: ${duration}`,
    ...(rounds === null ? [] : [`- ${toSentenceCase(formatRounds(rounds))}`]),
    ...renderCounts(campaign).map(line => `- ${line}`),
    `- Cost: ${formatCampaignCost(campaign)}`,
    ...sections.flat(),
  ]
  return `${lines.join('\n')}\n`
}

function renderSection(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return []
  const more = lines.length - MOST_SHOWN
  return ['', `## ${title}`, '', ...lines.slice(0, MOST_SHOWN), ...(more > 0 ? [`- … and ${more} more`] : [])]
}

function describeIdea(campaign: Campaign, experiment: Experiment): string {
  const reason = describeTableReason(campaign, experiment)
  const idea = `${experiment.id}: ${toSentenceCase(experiment.hypothesis)}`
  return escapeMarkdown(reason === '' ? idea : `${idea} (${reason})`)
}

function listShown(campaign: Campaign, isShown: (experiment: Experiment) => boolean): string[] {
  return Object.values(campaign.experiments)
    .filter(isShown)
    .map(each => `- ${describeIdea(campaign, each)}`)
}

/** Counts that a person compares: kept with runners-up, not kept, broken by its cause, refused and deferred. */
function renderCounts(campaign: Campaign): string[] {
  const all = Object.values(campaign.experiments)
  const count = (...outcomes: Outcome[]) =>
    all.filter(({ outcome }) => outcome !== null && outcomes.includes(outcome)).length
  const kept = listKeptExperiments(campaign)
  const runnersUp = kept.filter(({ outcome }) => outcome === 'runner_up_kept').length
  const rows: [label: string, number: number, aside: string][] = [
    ['Kept', kept.length, runnersUp === 0 ? '' : ` (including ${runnersUp} as runner-up)`],
    ['Kept, then reverted', all.filter(({ id }) => isReverted(campaign, id)).length, ''],
    ['Not kept', count('dropped', 'censored', 'not_selected', 'runner_up_dropped', 'withdrawn'), ''],
    ['Not proven', all.filter(({ verdict }) => verdict === 'not proven').length, ''],
    ['Degenerate (a check failed)', count('degenerate'), ''],
    ['Errors and timeouts', count('error', 'timeout'), ''],
    ['Refused', count('refused'), ''],
    ['Deferred', all.filter(({ status }) => status === 'deferred').length, ''],
  ]
  const shown = rows.filter(([label, number]) => number > 0 || label === 'Kept')
  return [
    `Experiments: ${all.length}`,
    ...shown.map(([label, number, aside]) => `${label}: ${number}${aside}`),
  ]
}

/** The primary as progress says it; the other metrics that the spec names as they were measured. */
function renderMetricChanges(campaign: Campaign, spec: Spec, progress: CampaignProgress): string[] {
  const { metric } = spec
  const [primary, ...others] = listObjectives(metric)
  const named = [...others, ...metric.degenerate_gates, ...metric.diagnostics].map(({ name }) => name)
  const constrained = metric.constraints.map(each => each.metric)
  const names = [...new Set([...named, ...constrained])].filter(name => name !== primary.name)
  const before = aggregateSnapshot(campaign.origin?.snapshot ?? campaign.baseline?.snapshot ?? null)
  const after = getIncumbentMetrics(campaign)
  const rows = names.flatMap(name => {
    const [from = null, to = null] = [before, after].map(values => getOwnValue(values, name))
    return from === null && to === null ? [] : [`- ${escapeMarkdown(describeChange(name, from, to))}`]
  })
  const separate = isProgressByPairs(campaign, spec) && rows.length > 0
  return [
    `- ${escapeMarkdown(formatProgress(progress))}`,
    ...rows,
    ...(separate ? ['- Values other than the first are of separate measurements: they show no gain.'] : []),
  ]
}

function describeChange(name: string, from: MetricValue, to: MetricValue): string {
  if (typeof from === 'number' && typeof to === 'number') return formatMetricChange(name, from, to)
  return `${name} ${formatMetricValue(from)} -> ${formatMetricValue(to)}`
}
