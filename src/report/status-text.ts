import { isProgressByPairs } from '../decide/progress.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { describeStatus } from '../model/describe-status.ts'
import { toOneLine } from '../model/landing.ts'
import { readCampaignSpec } from '../spec/recorded-spec.ts'
import { listIdeasToTake, formatIdeaToTake } from './backlog-text.ts'
import { formatCampaignCost } from './cost-text.ts'
import { toShortId } from './event-line.ts'
import { formatMetrics, selectShownMetrics } from './metrics-text.ts'
import { renderPickLine } from './pick-text.ts'
import { describeNoisyCalibration } from './noisy-text.ts'
import { describeReportedEffect, describeTableReason } from './reported-effect.ts'
import { toSentenceCase, renderStateSentence } from './sentence.ts'
import { getExperimentState } from './standing.ts'
import type { StatusView } from './status-view.ts'
import { formatTable } from './table.ts'
import { renderTally } from './tally.ts'

const ALERTS_SHOWN = 3

/** `winnow status` for people: where the campaign stands, then every experiment with its verdict first. */
export function renderStatus(campaign: Campaign, view: StatusView): string[] {
  const { to_go_on: way, notes, alerts } = view
  const shown = selectShownMetrics(readCampaignSpec(campaign))
  return [
    `Campaign ${view.campaign}: ${describeCampaignState(campaign)}`,
    ...(way === null ? [] : [`  to go on: ${way}`]),
    `  progress: ${view.progress.text}`,
    ...formatTable([
      ['  baseline', toShortId(view.baseline.commit), formatMetrics(view.baseline.metrics, shown)],
      [
        '  incumbent',
        toShortId(view.incumbent.commit),
        `${formatMetrics(view.incumbent.metrics, shown)}${describeSeparateMeasurement(campaign, view)}`,
      ],
    ]),
    ...renderStatusCalibration(campaign),
    `  ${renderTally(campaign)}`,
    ...renderStatusCost(campaign),
    ...notes.map(note => `  note: ${note}`),
    ...alerts.slice(-ALERTS_SHOWN).map(({ code, message }) => `  alert ${code}: ${message}`),
    ...listIdeasToTake(campaign).map(idea => `  to take: ${formatIdeaToTake(idea)}`),
    ...renderExperiments(campaign, view),
    ...renderPicks(campaign, view),
  ]
}

/** Two numbers of a noisy metric from different hours show no gain: only pairs do. */
function describeSeparateMeasurement(
  campaign: Campaign,
  { baseline, incumbent, progress }: StatusView,
): string {
  const spec = readCampaignSpec(campaign)
  if (baseline.tree === incumbent.tree || spec === null || !isProgressByPairs(campaign, spec)) return ''
  return progress.by === 'not measured'
    ? ' (measured separately: no gain can be read off)'
    : ' (measured separately: progress has the gain)'
}

/** The same in one line, for an answer. */
export function renderStatusSentence(campaign: Campaign, view: StatusView): string {
  const said = [describeCampaignState(campaign), ...view.notes, view.progress.text, renderTally(campaign)]
  return `Campaign ${view.campaign}: ${said.join('; ')}`
}

/** Nothing before anything was measured. */
function renderStatusCost(campaign: Campaign): string[] {
  return campaign.spent.minutes > 0 ? [`  cost: ${formatCampaignCost(campaign)}`] : []
}

function renderStatusCalibration({ calibration }: Campaign): string[] {
  const text = calibration === null ? null : describeNoisyCalibration(calibration)
  return text === null ? [] : [`  calibration: ${text}`]
}

export function describeCampaignState(campaign: Campaign): string {
  return describeStatus(campaign, (word, reason) => `${word}, ${reason}`)
}

/** What was kept says what it is reported to bring as soon as that is known: what it was selected by flatters. */
export function renderExperimentSentence(campaign: Campaign, experiment: Experiment): string {
  const said = renderStateSentence(getExperimentState(campaign, experiment))
  const effect = describeReportedEffect(campaign, experiment)
  return effect?.reported == null ? said : `Kept: ${describeTableReason(campaign, experiment)}`
}

/** What was taken alone is no experiment of the campaign, and stands apart. */
function renderPicks(campaign: Campaign, { picks }: StatusView): string[] {
  const rows = picks.flatMap(({ id, pr }) => {
    const pick = campaign.picks[id]
    return pick === undefined
      ? []
      : [`${toOneLine(renderPickLine(campaign, pick), 200)}${pr === null ? '' : ` (#${pr})`}`]
  })
  return rows.length === 0 ? [] : ['', ...rows]
}

function renderExperiments(campaign: Campaign, { experiments }: StatusView): string[] {
  const rows = experiments.flatMap(({ id, pr, hypothesis }) => {
    const standing = campaign.experiments[id]
    if (standing === undefined) return []
    const number = pr === null ? '' : `#${pr}`
    return [
      [
        id,
        number,
        toOneLine(renderExperimentSentence(campaign, standing), 160),
        toSentenceCase(toOneLine(hypothesis, 80)),
      ],
    ]
  })
  return rows.length === 0 ? [] : ['', ...formatTable(rows)]
}
