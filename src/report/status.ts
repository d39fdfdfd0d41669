import {
  type CampaignProgress,
  computeChange,
  computeProgress,
  formatProgress,
  isProgressByPairs,
} from '../decide/progress.ts'
import { formatCount, formatNumber, roundNumbers } from '../decide/wording.ts'
import { listAwaitedPackages } from '../model/approval.ts'
import {
  type Campaign,
  type EffectMeasurement,
  findLanding,
  getIncumbentMetrics,
  getIncumbentTasks,
  isReverted,
} from '../model/campaign.ts'
import { type Experiment, isUndecided, type PickEnd } from '../model/experiment.ts'
import { describeHarness, describeGuard } from '../model/harness-guard.ts'
import { aggregateSnapshot } from '../model/report.ts'
import { describeStatus } from '../model/status.ts'
import { type TaskScores, type TaskSummary, WORST_TASKS } from '../model/tasks.ts'
import { parseReason, toOneLine, toSentenceCase } from '../model/text.ts'
import { isBetterAlone, type Outcome, type VerdictWord, verdictWordSchema } from '../model/verdict.ts'
import { getCampaignSpec, readCampaignSpec } from '../spec/load.ts'
import { formatIdeaToTake, listIdeasToTake } from './backlog.ts'
import { listAwaitingApproval } from './approval.ts'
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
import { describeWeakTasks } from './tasks.ts'
import { formatMeasuringTime, formatTable } from './terminal.ts'
import {
  describeReportedEffect,
  describeTableReason,
  describeVerdict,
  listKeptExperiments,
  renderStateSentence,
} from './verdict-text.ts'

// Result

/** Effect of a landing, measured with pairs that were not used to select it; null until then. */
export type MeasuredEffect = Pick<EffectMeasurement, 'effect' | 'interval' | 'pairs' | 'scale'>

interface ProgressView {
  metric: string
  /**
   * numbers: deterministic values. tested: one test of all changes together. composed: effects of the single
   * changes.
   */
  by: CampaignProgress['is']
  text: string
  scale: EffectMeasurement['scale'] | null
  /** Positive is better. On the log scale, a difference of logarithms. */
  effect: number | null
  interval: EffectMeasurement['interval']
  pairs: number | null
  /** Relative change of the metric: -0.25 is a quarter less. */
  change: number | null
  /** Values before and after, for a deterministic metric; a new entry where the default branch changed them. */
  stretches: readonly { from: number; to: number }[]
  /** Kept changes that none of these numbers includes. */
  not_measured: readonly string[]
}

export interface CampaignResult {
  started_at: string | null
  /** From the start to the last event. */
  duration_seconds: number | null
  /** The part of it that was spent waiting for other processes of the machine. */
  waited_seconds: number
  /** By displayed word; each experiment counts once. */
  verdicts: Tally
  progress: ProgressView
  improvements: {
    id: string
    hypothesis: string
    effect: MeasuredEffect | null
    selected_by: number | null
  }[]
  deferred: { id: string; hypothesis: string; packages: string[]; approve: string }[]
  spent: Omit<Campaign['spent'], 'usd_for'> & {
    /** What models cost by purpose: judge, propose, measure. Absent without any cost. */
    usd_for?: Record<string, number>
  }
}

export function buildCampaignResult(campaign: Campaign): CampaignResult {
  const { started_at, updated_at, spent, waited_seconds } = campaign
  return {
    started_at,
    duration_seconds:
      started_at === null || updated_at === null
        ? null
        : (Date.parse(updated_at) - Date.parse(started_at)) / 1_000,
    waited_seconds,
    verdicts: countVerdicts(campaign),
    progress: toProgressView(computeCampaignProgress(campaign)),
    improvements: listKeptExperiments(campaign).map(({ id, hypothesis, primary_delta }) => ({
      id,
      hypothesis,
      effect: findMeasuredEffect(campaign, id),
      selected_by: primary_delta,
    })),
    deferred: listAwaitingApproval(campaign).map(experiment => ({
      id: experiment.id,
      hypothesis: experiment.hypothesis,
      packages: listAwaitedPackages(experiment),
      approve: `winnow approve ${experiment.id}`,
    })),
    spent: omitUnpaid(spent),
  }
}

function omitUnpaid({ usd_for, ...spent }: Campaign['spent']): CampaignResult['spent'] {
  const paid = Object.fromEntries(Object.entries(usd_for).filter(([, usd]) => usd > 0))
  return Object.keys(paid).length === 0 ? spent : { ...spent, usd_for: paid }
}

export function computeCampaignProgress(campaign: Campaign): CampaignProgress {
  return computeProgress(campaign, getCampaignSpec(campaign))
}

function toProgressView(progress: CampaignProgress): ProgressView {
  const { metric, is: by } = progress
  const text = formatProgress(progress)
  const none = { scale: null, effect: null, interval: null, pairs: null, change: null, stretches: [] }
  if (!('effect' in progress))
    return { metric, by, text, ...none, not_measured: by === 'not measured' ? progress.missing : [] }
  const change = computeChange(progress)
  const { scale, effect, missing } = progress
  return {
    metric,
    by,
    text,
    scale,
    effect,
    interval: progress.is === 'numbers' ? null : progress.interval,
    pairs: progress.is === 'numbers' ? null : progress.pairs,
    change: 'share' in change ? change.share : null,
    stretches: progress.is === 'numbers' ? progress.stretches : [],
    not_measured: missing,
  }
}

function findMeasuredEffect(
  campaign: Pick<Campaign, 'landings'>,
  id: Experiment['id'],
): MeasuredEffect | null {
  const measured = findLanding(campaign, id)?.effect ?? null
  if (measured === null) return null
  const { effect, interval, pairs, scale } = measured
  return { effect, interval, pairs, scale }
}

// Counts

export type Tally = Record<VerdictWord | 'waiting' | 'reverted' | 'reverts', number>

type TallyCampaign = Pick<Campaign, 'experiments' | 'landings'>

export function countVerdicts(campaign: TallyCampaign): Tally {
  const keys = [...verdictWordSchema.options, 'waiting', 'reverted', 'reverts']
  const tally = Object.fromEntries(keys.map(key => [key, 0])) as Tally
  for (const experiment of Object.values(campaign.experiments)) tally[getTallyKey(campaign, experiment)] += 1
  return tally
}

/** Example: "10 experiments: 3 kept, 5 no gain, 1 broken, 1 waiting". */
export function renderTally(campaign: TallyCampaign): string {
  const opened = formatCount(Object.keys(campaign.experiments).length, 'experiment')
  const verdicts = describeVerdictCounts(campaign)
  return verdicts === '' ? opened : `${opened}: ${verdicts}`
}

export function describeVerdictCounts(campaign: TallyCampaign): string {
  const experiments = Object.values(campaign.experiments)
  const better = experiments.filter(each => !isUndecided(each) && isBetterAlone(each.outcome)).length
  return Object.entries(countVerdicts(campaign))
    .filter(([, count]) => count > 0)
    .map(([key, count]) => {
      const words = key === 'reverts' ? formatCount(count, 'revert') : `${count} ${WORDS[key] ?? key}`
      return key === 'no gain' && better > 0 ? `${words} (${better} better alone)` : words
    })
    .join(', ')
}

const WORDS: Readonly<Record<string, string>> = { reverted: 'kept, then reverted' }

function getTallyKey(campaign: TallyCampaign, experiment: Experiment): keyof Tally {
  const { id, verdict, outcome } = experiment
  if (isUndecided(experiment) || verdict === null) return 'waiting'
  if (outcome === 'revert_landed') return 'reverts'
  return isReverted(campaign, id) ? 'reverted' : verdict
}

// Status

interface MeasuredVersion {
  commit: string
  tree: string
  metrics: ReadonlyMetrics
  /** The score of each task, if the harness prints any. */
  tasks?: TaskScores
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
  /** How the tasks changed that the harness prints; absent where it prints none. */
  tasks?: TaskSummary
}

/** Output of `winnow status --json`. Scripts rely on exactly these keys. */
export interface StatusView extends CampaignResult {
  campaign: string
  state: Campaign['status']
  /** Whether a change can raise the number without making the program better, as far as the probes show it. */
  guard: string
  /** How the sides of the latest measurement could reach each other; null where each had a user of its own. */
  unisolated: string | null
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
  const [startTasks, tasks] = [origin?.snapshot.tasks ?? null, getIncumbentTasks(campaign)]
  return roundNumbers({
    campaign: campaign.name,
    state: status,
    guard: describeGuard(campaign),
    unisolated: campaign.unisolated,
    state_reason: status === 'running' ? null : status_reason,
    to_go_on: describeResumeHint(campaign),
    notes,
    alerts,
    baseline: {
      ...(origin?.at ?? start),
      metrics: aggregateSnapshot(origin?.snapshot ?? null),
      ...(startTasks === null ? {} : { tasks: startTasks }),
    },
    incumbent: {
      ...incumbent,
      metrics: getIncumbentMetrics(campaign),
      ...(tasks === null ? {} : { tasks }),
    },
    ...buildCampaignResult(campaign),
    experiments: Object.values(campaign.experiments).map(one => buildExperimentView(campaign, one, pulls)),
    picks: Object.values(campaign.picks).map(one => ({
      ...buildExperimentView(campaign, one, pulls),
      picks: one.picks,
      pick_end: one.pick_end,
    })),
  })
}

export function buildExperimentView(
  campaign: StateCampaign,
  experiment: Experiment,
  pulls: PullNumbers,
): ExperimentView {
  const { id, hypothesis, reason, metrics, pull, outcome, tasks } = experiment
  const pr = pull ?? (experiment.branch === null ? null : (pulls.get(experiment.branch) ?? null))
  // Refused in the push that would have created its branch: only a pull request can show that it existed.
  const neverAppeared = outcome === 'refused' && experiment.owned && pr === null
  return roundNumbers({
    id,
    outcome,
    verdict: describeVerdict(getExperimentState(campaign, experiment)),
    hypothesis,
    pr,
    branch: neverAppeared ? null : experiment.branch,
    reason: reason === null ? null : parseReason(reason).sentence,
    metrics,
    effect: findMeasuredEffect(campaign, id),
    ...(tasks === null ? {} : { tasks }),
  })
}

// Text

const ALERTS_SHOWN = 3

export function renderStatus(campaign: Campaign, view: StatusView): string[] {
  const { to_go_on: resumeHint, notes, alerts } = view
  const shown = selectShownMetrics(readCampaignSpec(campaign))
  const calibration = campaign.calibration && describeNoisyCalibration(campaign.calibration)
  return [
    `${renderCampaignName(view)}: ${describeCampaignState(campaign)}`,
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
    ...describeIncumbentTasks(campaign, view),
    ...(calibration === null ? [] : [`  calibration: ${calibration}`]),
    ...(view.unisolated === null ? [] : [`  ${view.unisolated}`]),
    `  ${renderTally(campaign)}`,
    ...(campaign.spent.minutes > 0 ? [`  cost: ${formatCampaignCost(campaign)}`] : []),
    ...notes.map(note => `  note: ${note}`),
    ...alerts.slice(-ALERTS_SHOWN).map(({ code, message }) => `  alert ${code}: ${message}`),
    ...listIdeasToTake(campaign).map(idea => `  to take: ${formatIdeaToTake(idea)}`),
    ...renderExperiments(campaign, view),
    ...renderPicks(campaign, view),
  ]
}

function describeIncumbentTasks({ direction }: Campaign, { incumbent }: StatusView): string[] {
  const { tasks } = incumbent
  return tasks === undefined ? [] : [`  weakest tasks: ${describeWeakTasks(tasks, direction, WORST_TASKS)}`]
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
  return `${renderCampaignName(view)}: ${parts.join('; ')}`
}

function renderCampaignName({ campaign, guard }: Pick<StatusView, 'campaign' | 'guard'>): string {
  return `Campaign ${campaign} (${describeHarness(guard)})`
}

export function describeCampaignState(campaign: Campaign): string {
  return describeStatus(campaign, (word, reason) => `${word}, ${reason}`)
}

/** Prefers the reported effect of a kept change: the selection effect is biased upwards. */
export function renderExperimentSentence(campaign: Campaign, experiment: Experiment): string {
  const sentence = renderStateSentence(getExperimentState(campaign, experiment))
  const effect = describeReportedEffect(campaign, experiment)
  return effect?.reported == null ? sentence : `Kept: ${describeTableReason(campaign, experiment)}`
}

/** Lists picks separately, because they are not experiments of the campaign. */
function renderPicks(campaign: Campaign, { picks }: StatusView): string[] {
  const rows = picks.flatMap(({ id, pr }) => {
    const pick = campaign.picks[id]
    const number = pr === null ? '' : ` (#${pr})`
    return pick === undefined ? [] : [`${toOneLine(renderPickLine(campaign, pick), 200)}${number}`]
  })
  return rows.length === 0 ? [] : ['', ...rows]
}

function renderExperiments(campaign: Campaign, { experiments }: StatusView): string[] {
  const rows = experiments.flatMap(({ id, pr, hypothesis }) => {
    const experiment = campaign.experiments[id]
    if (experiment === undefined) return []
    const sentence = toOneLine(renderExperimentSentence(campaign, experiment), 160)
    return [[id, pr === null ? '' : `#${pr}`, sentence, toSentenceCase(toOneLine(hypothesis, 80))]]
  })
  return rows.length === 0 ? [] : ['', ...formatTable(rows)]
}

// Cost

type CampaignCost = Pick<Campaign, 'spent' | 'host'>

/** "138 job-minutes" where jobs are billed, otherwise "41:36". */
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
