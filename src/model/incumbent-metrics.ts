import type { Campaign } from './campaign.ts'
import type { Oid } from './ids.ts'
import type { MetricValues } from './report.ts'
import { aggregateSnapshot } from './snapshot.ts'

type KnownMetrics = Pick<
  Campaign,
  'baseline' | 'incumbent' | 'origin' | 'steps' | 'trees' | 'measured_as' | 'experiments' | 'harness'
>

/** The numbers of the incumbent's very tree, from wherever it was measured; none where it was not. */
export function getIncumbentMetrics(campaign: KnownMetrics): MetricValues {
  const { incumbent, origin, steps } = campaign
  // One tree measured twice is no progress.
  if (steps.length === 0 && origin?.at.tree === incumbent.tree) return aggregateSnapshot(origin.snapshot)
  return findTreeMetrics(campaign, incumbent.tree) ?? {}
}

/** The metrics of this tree, measured with the harness in force. */
export function findTreeMetrics(campaign: KnownMetrics, tree: Oid): MetricValues | null {
  const { baseline, steps, trees, experiments, harness, measured_as } = campaign
  if (baseline?.tree === tree) return aggregateSnapshot(baseline.snapshot)
  const known = measured_as[tree] ?? tree
  const found = steps
    .flatMap(step => (step.harness === harness ? [step.from, step.to] : []))
    .findLast(measured => measured.tree === known)
  if (found !== undefined) return found.metrics
  const measured = experiments[trees[known] ?? '']
  return measured?.measured_tree === known ? measured.metrics : null
}
