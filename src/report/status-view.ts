import type { Campaign, Experiment } from '../model/campaign.ts'
import { type Outcome, outcome } from '../model/outcome.ts'
import { type Metrics, snapshotMetrics } from './metrics-text.ts'
import { verdictPhrase } from './sentence.ts'

interface Version {
  commit: string
  tree: string
  metrics: Metrics
}

export interface ExperimentView {
  id: string
  outcome: Outcome | null
  /** One of the six words, or what it waits for. */
  verdict: string
  hypothesis: string
  pr: number | null
  branch: string | null
  reason: string | null
  metrics: Metrics
}

/** What `winnow status --json` prints: these keys and no others, for scripts to rely on. */
export interface StatusView {
  campaign: string
  state: Campaign['status']
  baseline: Version
  incumbent: Version
  counts: Record<Outcome, number>
  experiments: ExperimentView[]
}

/** Numbers of the pull requests by branch, where the ledger does not name them. */
export type PullNumbers = ReadonlyMap<string, number>

export function statusView(campaign: Campaign, pulls: PullNumbers): StatusView {
  const { reference, incumbent, origin } = campaign
  return {
    campaign: campaign.name,
    state: campaign.status,
    baseline: { ...reference, metrics: snapshotMetrics(origin) },
    incumbent: { ...incumbent, metrics: incumbentMetrics(campaign) },
    counts: countsOf(campaign),
    experiments: Object.values(campaign.experiments).map(one => experimentView(one, pulls)),
  }
}

export function experimentView(experiment: Experiment, pulls: PullNumbers): ExperimentView {
  const { id, hypothesis, branch, reason, metrics, pull } = experiment
  return {
    id,
    outcome: experiment.outcome,
    verdict: verdictPhrase(experiment),
    hypothesis,
    pr: pull ?? (branch === null ? null : (pulls.get(branch) ?? null)),
    branch,
    reason,
    metrics,
  }
}

function countsOf({ counts }: Campaign): Record<Outcome, number> {
  const entries = outcome.options.map(name => [name, counts[name] ?? 0] as const)
  return Object.fromEntries(entries) as Record<Outcome, number>
}

/** The numbers of the incumbent's very tree, from wherever it was measured; none where it was not. */
function incumbentMetrics({ baseline, incumbent, reference, origin, experiments }: Campaign): Metrics {
  if (baseline !== null && baseline.tree === incumbent.tree) return snapshotMetrics(baseline.snapshot)
  if (incumbent.tree === reference.tree) return snapshotMetrics(origin)
  const measured = Object.values(experiments).findLast(one => one.measured_tree === incumbent.tree)
  return measured?.metrics ?? {}
}
