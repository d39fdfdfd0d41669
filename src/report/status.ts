import { isProgressByPairs } from '../decide/progress.ts'
import { formatCount, formatNumber } from '../decide/wording.ts'
import { type Campaign, getIncumbentMetrics } from '../model/campaign.ts'
import type { Experiment, PickEnd } from '../model/experiment.ts'
import { aggregateSnapshot } from '../model/report.ts'
import { describeStatus } from '../model/status.ts'
import { parseReason, toOneLine } from '../model/text.ts'
import type { Outcome } from '../model/verdict.ts'
import { readCampaignSpec } from '../spec/load.ts'
import { formatIdeaToTake, listIdeasToTake } from './backlog.ts'
import {
  buildCampaignResult,
  type CampaignResult,
  findMeasuredEffect,
  type MeasuredEffect,
  renderTally,
} from './campaign-result.ts'
import { toShortId } from './event-log.ts'
import { getExperimentState, type StateCampaign } from './experiment-state.ts'
import {
  describeNoisyCalibration,
  formatMetrics,
  type ReadonlyMetrics,
  selectShownMetrics,
} from './metrics.ts'
import { renderPickLine } from './pull-request.ts'
import { describeResumeHint } from './resume-hint.ts'
import { formatMeasuringTime, formatTable } from './terminal.ts'
import {
  describeReportedEffect,
  describeTableReason,
  describeVerdict,
  renderStateSentence,
  toSentenceCase,
} from './verdict-text.ts'

// View

interface MeasuredVersion {
  commit: string
  tree: string
  metrics: ReadonlyMetrics
}

export interface ExperimentView {
  id: string
  outcome: Outcome | null
  /** A verdict word, or what the experiment waits for. */
  verdict: string
  hypothesis: string
  pr: number | null
  branch: string | null
  reason: string | null
  metrics: ReadonlyMetrics
  /** Effect measured with pairs that were not used for selection; null until then. */
  effect: MeasuredEffect | null
}

/** Output of `winnow status --json`. Scripts rely on exactly these keys. */
export interface StatusView extends CampaignResult {
  campaign: string
  state: Campaign['status']
  /** Why it is paused or stopped; null while it runs. */
  state_reason: string | null
  /** How a person can continue after a limit stopped it. */
  to_go_on: string | null
  /** Obstacles, and limits on the validity of the numbers. */
  notes: readonly string[]
  alerts: Campaign['alerts']
  baseline: MeasuredVersion
  incumbent: MeasuredVersion
  experiments: ExperimentView[]
  /** Kept changes that were taken alone to the default branch. */
  picks: PickView[]
}

interface PickView extends ExperimentView {
  /** The kept experiment that it takes. */
  picks: string
  /** Fate of its pull request; null while open, or if never opened. */
  pick_end: PickEnd | null
}

/** Pull request numbers by branch, for those that the ledger does not record. */
export type PullNumbers = ReadonlyMap<string, number>

export function buildStatusView(
  campaign: Campaign,
  pulls: PullNumbers,
  notes: readonly string[] = [],
): StatusView {
  const { start, incumbent, origin, status, status_reason, alerts } = campaign
  return {
    campaign: campaign.name,
    state: status,
    state_reason: status === 'running' ? null : status_reason,
    to_go_on: describeResumeHint(campaign),
    notes,
    alerts,
    baseline: { ...(origin?.at ?? start), metrics: aggregateSnapshot(origin?.snapshot ?? null) },
    incumbent: { ...incumbent, metrics: getIncumbentMetrics(campaign) },
    ...buildCampaignResult(campaign),
    experiments: Object.values(campaign.experiments).map(one => buildExperimentView(campaign, one, pulls)),
    picks: Object.values(campaign.picks).map(one => ({
      ...buildExperimentView(campaign, one, pulls),
      picks: one.picks,
      pick_end: one.pick_end,
    })),
  }
}

export function buildExperimentView(
  campaign: StateCampaign,
  experiment: Experiment,
  pulls: PullNumbers,
): ExperimentView {
  const { id, hypothesis, reason, metrics, pull, outcome } = experiment
  const pr = pull ?? (experiment.branch === null ? null : (pulls.get(experiment.branch) ?? null))
  const said = reason === null ? null : parseReason(reason)
  return {
    id,
    outcome,
    verdict: describeVerdict(getExperimentState(campaign, experiment)),
    hypothesis,
    pr,
    branch: hasNeverAppeared(experiment, pr) ? null : experiment.branch,
    reason: said?.sentence ?? null,
    metrics,
    effect: findMeasuredEffect(campaign, id),
  }
}

/**
 * Refused in the push that would have created its branch: only a pull request can show that the branch existed.
 */
function hasNeverAppeared({ outcome, owned }: Experiment, pr: number | null): boolean {
  return outcome === 'refused' && owned && pr === null
}

// Text

const ALERTS_SHOWN = 3

export function renderStatus(campaign: Campaign, view: StatusView): string[] {
  const { to_go_on: resumeHint, notes, alerts } = view
  const shown = selectShownMetrics(readCampaignSpec(campaign))
  return [
    `Campaign ${view.campaign}: ${describeCampaignState(campaign)}`,
    ...(resumeHint === null ? [] : [`  to continue: ${resumeHint}`]),
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

/** For a noisy metric, two numbers of different hours show no gain. Only pairs do. */
function describeSeparateMeasurement(
  campaign: Campaign,
  { baseline, incumbent, progress }: StatusView,
): string {
  const spec = readCampaignSpec(campaign)
  if (baseline.tree === incumbent.tree || spec === null || !isProgressByPairs(campaign, spec)) return ''
  return progress.by === 'not measured'
    ? ' (measured separately: no gain can be read off)'
    : ' (from a separate measurement; progress shows the gain)'
}

/** One-line status, for a comment. */
export function renderStatusSentence(campaign: Campaign, view: StatusView): string {
  const parts = [describeCampaignState(campaign), ...view.notes, view.progress.text, renderTally(campaign)]
  return `Campaign ${view.campaign}: ${parts.join('; ')}`
}

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

/**
 * For a kept change, prefers the reported effect as soon as it is known: the selection effect is biased
 * upwards.
 */
export function renderExperimentSentence(campaign: Campaign, experiment: Experiment): string {
  const sentence = renderStateSentence(getExperimentState(campaign, experiment))
  const effect = describeReportedEffect(campaign, experiment)
  return effect?.reported == null ? sentence : `Kept: ${describeTableReason(campaign, experiment)}`
}

/** Lists picks separately, because they are not experiments of the campaign. */
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

// Cost

type CampaignCost = Pick<Campaign, 'spent' | 'host'>

/**
 * Formats measuring time, the same in every view: "138 job-minutes" where jobs are billed, otherwise "41:36".
 */
export function formatMeasuringMinutes({ spent: { minutes }, host }: CampaignCost): string {
  return host === 'github' ? formatCount(Math.ceil(minutes), 'job-minute') : formatMeasuringTime(minutes)
}

export function formatModelCost({ spent: { usd } }: CampaignCost): string[] {
  return usd > 0 ? [`${formatNumber(usd)} USD for models`] : []
}

export function formatCampaignCost(campaign: CampaignCost): string {
  const executions = formatCount(campaign.spent.executions, 'execution')
  return [`${executions} in ${formatMeasuringMinutes(campaign)}`, ...formatModelCost(campaign)].join(', ')
}
