import { isByPairs } from '../decide/progress.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { describeStatus } from '../model/describe-status.ts'
import { oneLine } from '../model/landing.ts'
import { recordedSpec } from '../spec/recorded-spec.ts'
import { ideasToTake, toTakeLine } from './backlog-text.ts'
import { costText } from './cost-text.ts'
import { short } from './event-line.ts'
import { metricsText, shownMetrics } from './metrics-text.ts'
import { pickLine } from './pick-text.ts'
import { noisyText } from './noisy-text.ts'
import { reportedEffect, tableReason } from './reported-effect.ts'
import { capitalised, standingSentence } from './sentence.ts'
import { standingIn } from './standing.ts'
import type { StatusView } from './status-view.ts'
import { table } from './table.ts'
import { tallyText } from './tally.ts'

const ALERTS_SHOWN = 3

/** `winnow status` for people: where the campaign stands, then every experiment with its verdict first. */
export function statusText(campaign: Campaign, view: StatusView): string[] {
  const { to_go_on: way, notes, alerts } = view
  const shown = shownMetrics(recordedSpec(campaign))
  return [
    `Campaign ${view.campaign}: ${stateText(campaign)}`,
    ...(way === null ? [] : [`  to go on: ${way}`]),
    `  progress: ${view.progress.text}`,
    ...table([
      ['  baseline', short(view.baseline.commit), metricsText(view.baseline.metrics, shown)],
      [
        '  incumbent',
        short(view.incumbent.commit),
        `${metricsText(view.incumbent.metrics, shown)}${separately(campaign, view)}`,
      ],
    ]),
    ...calibrationLines(campaign),
    `  ${tallyText(campaign)}`,
    ...costLines(campaign),
    ...notes.map(note => `  note: ${note}`),
    ...alerts.slice(-ALERTS_SHOWN).map(({ code, message }) => `  alert ${code}: ${message}`),
    ...ideasToTake(campaign).map(idea => `  to take: ${toTakeLine(idea)}`),
    ...experimentLines(campaign, view),
    ...pickLines(campaign, view),
  ]
}

/** Two numbers of a noisy metric from different hours show no gain: only pairs do. */
function separately(campaign: Campaign, { baseline, incumbent, progress }: StatusView): string {
  const spec = recordedSpec(campaign)
  if (baseline.tree === incumbent.tree || spec === null || !isByPairs(campaign, spec)) return ''
  return progress.by === 'not measured'
    ? ' (measured separately: no gain can be read off)'
    : ' (measured separately: progress has the gain)'
}

/** The same in one line, for an answer. */
export function statusSentence(campaign: Campaign, view: StatusView): string {
  const said = [stateText(campaign), ...view.notes, view.progress.text, tallyText(campaign)]
  return `Campaign ${view.campaign}: ${said.join('; ')}`
}

/** Nothing before anything was measured. */
function costLines(campaign: Campaign): string[] {
  return campaign.spent.minutes > 0 ? [`  cost: ${costText(campaign)}`] : []
}

function calibrationLines({ calibration }: Campaign): string[] {
  const text = calibration === null ? null : noisyText(calibration)
  return text === null ? [] : [`  calibration: ${text}`]
}

export function stateText(campaign: Campaign): string {
  return describeStatus(campaign, (word, reason) => `${word}, ${reason}`)
}

/** What was kept says what it is reported to bring as soon as that is known: what it was selected by flatters. */
export function experimentSentence(campaign: Campaign, experiment: Experiment): string {
  const said = standingSentence(standingIn(campaign, experiment))
  const effect = reportedEffect(campaign, experiment)
  return effect?.reported == null ? said : `Kept: ${tableReason(campaign, experiment)}`
}

/** What was taken alone is no experiment of the campaign, and stands apart. */
function pickLines(campaign: Campaign, { picks }: StatusView): string[] {
  const rows = picks.flatMap(({ id, pr }) => {
    const pick = campaign.picks[id]
    return pick === undefined
      ? []
      : [`${oneLine(pickLine(campaign, pick), 200)}${pr === null ? '' : ` (#${pr})`}`]
  })
  return rows.length === 0 ? [] : ['', ...rows]
}

function experimentLines(campaign: Campaign, { experiments }: StatusView): string[] {
  const rows = experiments.flatMap(({ id, pr, hypothesis }) => {
    const standing = campaign.experiments[id]
    if (standing === undefined) return []
    const number = pr === null ? '' : `#${pr}`
    return [
      [
        id,
        number,
        oneLine(experimentSentence(campaign, standing), 160),
        capitalised(oneLine(hypothesis, 80)),
      ],
    ]
  })
  return rows.length === 0 ? [] : ['', ...table(rows)]
}
