import type { Campaign } from '../model/campaign.ts'
import type { Experiment, PickFate } from '../model/experiment.ts'
import type { Outcome } from '../model/outcome.ts'
import { getIncumbentMetrics } from '../model/incumbent-metrics.ts'
import { parseReason } from '../model/reason.ts'
import { aggregateSnapshot } from '../model/snapshot.ts'
import {
  type CampaignResult,
  buildCampaignResult,
  findMeasuredEffect,
  type MeasuredEffect,
} from './campaign-result.ts'
import type { ReadonlyMetrics } from './metrics-text.ts'
import { describeVerdict } from './sentence.ts'
import { type StateCampaign, getExperimentState } from './standing.ts'
import { describeResumeHint } from './way-on.ts'

interface MeasuredVersion {
  commit: string
  tree: string
  metrics: ReadonlyMetrics
}

export interface ExperimentView {
  id: string
  outcome: Outcome | null
  /** One of the six words, or what it waits for. */
  verdict: string
  hypothesis: string
  pr: number | null
  branch: string | null
  /** One sentence. */
  reason: string | null
  metrics: ReadonlyMetrics
  /** What was kept, measured again by pairs that nothing was selected by; null until then. */
  effect: MeasuredEffect | null
}

/** What `winnow status --json` prints: these keys and no others, for scripts to rely on. */
export interface StatusView extends CampaignResult {
  campaign: string
  state: Campaign['status']
  /** Why it stands still; null while it runs. */
  state_reason: string | null
  /** What a person does for it to go on, where a limit has stopped it. */
  to_go_on: string | null
  /** What keeps it from going on, and what there is to know about all its numbers. */
  notes: readonly string[]
  /** The latest last. */
  alerts: Campaign['alerts']
  baseline: MeasuredVersion
  incumbent: MeasuredVersion
  experiments: ExperimentView[]
  /** Kept changes that were taken alone, to the default branch. */
  picks: PickView[]
}

export interface PickView extends ExperimentView {
  /** The kept experiment that it takes. */
  picks: string
  /** What became of its pull request; null while it is open, or was never offered. */
  fate: PickFate | null
}

/** Numbers of the pull requests by branch, where the ledger does not name them. */
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
      fate: one.fate,
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

/** Refused in the very push that would have made its branch: only a pull request shows that it was there. */
function hasNeverAppeared({ outcome, owned }: Experiment, pr: number | null): boolean {
  return outcome === 'refused' && owned && pr === null
}
