import { describeEffect, removeMetricName } from '../decide/paired/effect-text.ts'
import type { CampaignProgress } from '../decide/progress.ts'
import { formatCount, formatNumber, formatRounded } from '../decide/wording.ts'
import { findRefusedSyncAlert, NO_MACHINE } from '../model/alerts.ts'
import type { Campaign } from '../model/campaign.ts'
import { type Experiment, isUndecided } from '../model/experiment.ts'
import { describeHarness, describeGuard } from '../model/harness-guard.ts'
import { toShortRef } from '../model/ids.ts'
import { describeStatus } from '../model/status.ts'
import { joinFirst, neutralizeMentions, toOneLine, toSentenceCase } from '../model/text.ts'
import { getCampaignSpec } from '../spec/load.ts'
import type { Spec } from '../spec/schema.ts'
import { renderApprovalTask, renderKeptPackagesTable } from './approval.ts'
import { computeMetricChange } from './charts.ts'
import { findPersonalTasks, type PersonalTask } from './experiment-state.ts'
import { buildChartUrl, type PageUrl } from './github-names.ts'
import { escapeMarkdown, fitLines, formatCode } from './markdown.ts'
import { describeResumeHint } from './resume-hint.ts'
import { computeCampaignProgress, formatMeasuringMinutes, formatModelCost } from './status.ts'
import { renderPlainVerdict } from './verdict-markdown.ts'
import { describeKeptEffect, listKeptExperiments } from './verdict-text.ts'

/** State that the text shows and that the ledger does not contain. */
interface CampaignPullState {
  merged: boolean
  /** Pull request numbers of experiments that no event has recorded yet. */
  pulls: Readonly<Record<string, number>>
}

const UNMERGED: CampaignPullState = { merged: false, pulls: {} }

/** The line of the body with running totals, such as minutes. */
export const COUNTS_LINE = 1

const MAX_TITLE_LENGTH = 120
const MAX_REASON_LENGTH = 600

/** For the person who decides whether to merge the campaign into the default branch. */
export function renderCampaignPullTitle(campaign: Campaign): string {
  const total = computeTotalEffect(campaign)
  const changes = formatCount(listKeptExperiments(campaign).length, 'change')
  const summary = total === null ? changes : `${total.title}, ${changes}`
  return neutralizeMentions(toOneLine(`optimize(${campaign.name}): ${summary}`, MAX_TITLE_LENGTH))
}

/** Limits in characters, so that the end of the text, which says how to finish, always fits. */
const MAX_KEPT_LENGTH = 24_000
const MAX_UNMERGED_LENGTH = 14_000
const MAX_WAITING_LENGTH = 5_000

export function renderCampaignPullBody(
  campaign: Campaign,
  page: PageUrl = null,
  state: CampaignPullState = UNMERGED,
): string {
  const spec = getCampaignSpec(campaign)
  const chart = buildChartUrl(page, campaign)
  const { merged } = state
  const parts = [
    renderCampaignHead(campaign),
    chart === null ? [] : [`![${escapeMarkdown(spec.metric.primary.name)} over experiments](${chart})`],
    renderKeptTable(campaign, state),
    renderNeedsYou(campaign, state),
    renderKeptPackagesTable(campaign),
    merged ? renderMergedLines(campaign, spec) : renderFinishSection(campaign, spec),
    renderUnmergedIdeas(campaign, spec),
  ]
  return `${parts
    .filter(lines => lines.length > 0)
    .map(lines => lines.join('\n'))
    .join('\n\n')}\n`
}

interface TotalEffect {
  /** For a title: "82 % less CPU". */
  title: string
  /** "82.4 % less CPU", with the metric's name if the phrase does not already tell it. */
  phrase: string
  /** "81.6 to 83.1 %"; null where unknown. */
  range: string | null
  note: string | null
}

function computeTotalEffect(campaign: Campaign): TotalEffect | null {
  const progress = computeCampaignProgress(campaign)
  if (progress.is === 'nothing kept') return null
  if (progress.is === 'not measured') return estimateTotalEffect(progress)
  const interval = progress.is === 'numbers' ? null : progress.interval
  const notes = [
    ...(progress.is === 'composed' ? [COMPOSED_NOTE] : []),
    ...describeMissingEffects(progress.missing),
  ]
  return describeTotalEffect(progress, { ...progress, interval, note: notes.join(' ') || null })
}

const COMPOSED_NOTE =
  'Each kept change was measured on its own. winnow measures all of them together before the campaign stops.'

interface MeasuredTotal {
  effect: number
  scale: 'log' | 'linear'
  interval: [number, number] | null
  note: string | null
}

function describeTotalEffect(
  { metric: name, direction }: Pick<CampaignProgress, 'metric' | 'direction'>,
  { effect, scale, interval, note }: MeasuredTotal,
  about: '' | 'about ' = '',
): TotalEffect {
  const { size, unit, word, range } = describeEffect(effect, interval, { name, direction, scale })
  const named = (amount: string) => removeMetricName(`${name} ${about}${amount}${unit} ${word}`, name)
  const whole = Math.abs(Number(size)) >= 10 ? String(Math.round(Number(size))) : size
  return {
    title: named(unit === ' %' ? whole : size),
    phrase: named(size),
    range: range === null ? null : `${range[0]} to ${range[1]}${unit}`,
    note,
  }
}

/** The sum of the selection effects, until the effect of a newly kept change is measured. */
function estimateTotalEffect(
  progress: Extract<CampaignProgress, { is: 'not measured' }>,
): TotalEffect | null {
  const { decided: effect, scale } = progress
  if (effect === null) return null
  const note =
    'Estimated from the measurements that decided on each change. winnow measures the effect again with the next ideas and updates this text.'
  return describeTotalEffect(progress, { effect, scale, interval: null, note }, 'about ')
}

function describeMissingEffects(missing: readonly string[]): string[] {
  return missing.length === 0 ? [] : [`Not in this number yet: ${joinFirst(missing, 5)}.`]
}

function renderCampaignHead(campaign: Campaign): string[] {
  const total = computeTotalEffect(campaign)
  const range = total?.range == null ? '' : ` (${escapeMarkdown(total.range)})`
  const kept = listKeptExperiments(campaign).length
  const head =
    total === null
      ? `### ${kept === 0 ? 'Nothing is kept at the moment' : `${formatCount(kept, 'change')} kept`}`
      : `### ${escapeMarkdown(total.phrase.replace(/^about /, 'About '))} than at the start${range}`
  const note = total?.note ?? null
  return [head, renderFactsLine(campaign), ...(note === null ? [] : ['', note])]
}

/** One line with the metric before and after, the number of kept ideas, the cost and the state. */
function renderFactsLine(campaign: Campaign): string {
  const { experiments } = campaign
  const progress = computeCampaignProgress(campaign)
  const change = computeMetricChange(campaign, progress)
  const metric = formatCode(progress.metric)
  const ideas = Object.values(experiments).filter(({ purpose }) => purpose !== 'revert').length
  const facts = [
    ...(change === null
      ? []
      : [`${metric} ${formatShortNumber(change.from)} → ${formatShortNumber(change.to)}`]),
    `${listKeptExperiments(campaign).length} of ${formatCount(ideas, 'idea')} kept`,
    `${formatMeasuringMinutes(campaign)}${campaign.host === 'github' ? '' : ' of measuring'}`,
    ...formatModelCost(campaign),
    escapeMarkdown(describeHarness(describeGuard(campaign))),
    ...(campaign.unisolated === null ? [] : ['measured without isolation']),
    escapeMarkdown(describeStatus(campaign), MAX_REASON_LENGTH),
  ]
  return facts.join(' · ')
}

/** Three digits are enough next to a percentage. Integers stay whole. */
function formatShortNumber(value: number): string {
  return Number.isInteger(value) || Math.abs(value) >= 1000 ? formatNumber(value) : formatRounded(value, 3)
}

/** After the whole campaign is merged, the table no longer offers single changes. */
function renderKeptTable(campaign: Campaign, state: CampaignPullState): string[] {
  const rows = listKeptExperiments(campaign).map(experiment => {
    const effect = escapeMarkdown(describeKeptEffect(campaign, experiment) ?? '')
    const pickState = state.merged ? [] : [describePickState(campaign, experiment, state)]
    return `| ${[formatExperimentReference(experiment, state), escapeMarkdown(experiment.hypothesis), effect, ...pickState].join(' | ')} |`
  })
  if (rows.length === 0) return []
  const head = state.merged
    ? ['| | change | effect |', '|---|---|---|']
    : ['| | change | effect | on its own |', '|---|---|---|---|']
  return [...head, ...fitLines(rows, MAX_KEPT_LENGTH, describeOmittedRows)]
}

function describeOmittedRows(left: number): string {
  return `\n… and ${left} more: \`winnow status\` lists all of them.`
}

function describePickState({ picks }: Campaign, { id }: Experiment, state: CampaignPullState): string {
  const last = Object.values(picks).findLast(each => each.picks === id)
  const command = `\`/winnow pick ${id}\``
  if (last === undefined) return command
  const reference = formatExperimentReference(last, state)
  if (last.pick_end === 'merged') return `${reference}, merged`
  const found = (isUndecided(last) ? null : last.verdict) ?? 'being measured'
  return last.closed ? `${command} (${reference}: ${found}, closed)` : `${reference}: ${found}`
}

function renderNeedsYou(campaign: Campaign, state: CampaignPullState): string[] {
  const refused = findRefusedSyncAlert(campaign)
  const items = [
    ...findPersonalTasks(campaign).map(task => renderTaskItem(task, state)),
    ...listWaitingRuns(campaign),
    ...(refused === null
      ? []
      : [`${refused.sentences.map(text => escapeMarkdown(text, MAX_REASON_LENGTH)).join('. ')}.`]),
  ]
  if (items.length === 0) return []
  if (items.length === 1) return [`**Needs you:** ${items.join('')}`]
  const lines = items.map(item => `- ${item}`)
  return ['**Needs you:**', '', ...fitLines(lines, MAX_WAITING_LENGTH, left => `- and ${left} more`)]
}

function renderTaskItem({ experiment, is, awaits, help }: PersonalTask, state: CampaignPullState): string {
  const reference = formatExperimentReference(experiment, state)
  switch (is) {
    case 'approval':
      return renderApprovalTask(reference, experiment)
    case 'permission':
      return `${reference} is from a person without write access. Read it, then comment \`${help}\` there to have it measured.`
    case 'sync':
      return `${reference} is waiting for ${escapeMarkdown(awaits)}. What helps: ${escapeMarkdown(help, 400)}.`
    default:
      return is satisfies never
  }
}

/** Lists a run only while an order is still expected from it. */
function listWaitingRuns({ alerts, orders }: Campaign): string[] {
  const expected = new Set(
    Object.values(orders).map(({ run_id, report }) => (report === null ? run_id : null)),
  )
  return alerts
    .filter(({ code, about }) => code === NO_MACHINE && about !== null && expected.has(about))
    .map(({ message }) => `${escapeMarkdown(toSentenceCase(message), 400)}.`)
}

function formatExperimentReference(
  { id, pull }: Pick<Experiment, 'id' | 'pull'>,
  { pulls }: CampaignPullState = UNMERGED,
): string {
  const number = pull ?? pulls[id]
  return number === undefined ? id : `#${number}`
}

const AUDIT_NOTE = 'Every commit was measured before it landed; `winnow audit` verifies that from git alone.'

function renderFinishSection(campaign: Campaign, { merge }: Spec): string[] {
  const { status, default_branch } = campaign
  const into = escapeMarkdown(toShortRef(default_branch))
  const resumeHint = describeResumeHint(campaign)
  const merging = merge.on_merge === 'restart' ? 'begins the next campaign' : 'ends the campaign'
  const grows =
    status === 'stopped'
      ? `The campaign has stopped, so nothing more is added${resumeHint === null ? '' : `. To continue, ${escapeMarkdown(resumeHint, 400)}`}.`
      : `winnow adds every change that it keeps to this pull request. Merging it ${merging}, closing it pauses the campaign, and the comment \`/winnow stop\` ends the campaign without merging.`
  return [
    `Merge this pull request to take all of it into ${into}. To merge a single change, post the command next to it: winnow measures it on its own and opens a separate pull request.`,
    '',
    grows,
    '',
    `${AUDIT_NOTE} If checks of this repository do not start here, use *Approve workflows to run*: GitHub holds back the checks of pull requests that a job opened.`,
  ]
}

function renderMergedLines(campaign: Campaign, { merge }: Spec): string[] {
  const into = escapeMarkdown(toShortRef(campaign.default_branch))
  const next = merge.on_merge === 'restart' ? ' The next campaign begins by itself.' : ''
  const resumeHint = describeResumeHint(campaign)
  return [
    `Merged into ${into}.${next}${resumeHint === null ? '' : ` To continue, ${escapeMarkdown(resumeHint, 400)}.`}`,
    '',
    AUDIT_NOTE,
  ]
}

function renderUnmergedIdeas(campaign: Campaign, spec: Spec): string[] {
  const kept = new Set(listKeptExperiments(campaign).map(({ id }) => id))
  const lost = Object.values(campaign.experiments).filter(
    ({ id, status, purpose }) =>
      (status === 'ended' || status === 'not-proven') && purpose !== 'revert' && !kept.has(id),
  )
  if (lost.length === 0) return []
  const rows = lost.map(
    experiment =>
      `| ${formatExperimentReference(experiment)} | ${escapeMarkdown(experiment.hypothesis)} | ${escapeMarkdown(renderPlainVerdict(spec, experiment))} |`,
  )
  return [
    `<details><summary>${formatCount(lost.length, 'idea')} not kept</summary>`,
    '',
    '| | idea | verdict |',
    '|---|---|---|',
    ...fitLines(rows, MAX_UNMERGED_LENGTH, describeOmittedRows),
    '',
    '</details>',
  ]
}
