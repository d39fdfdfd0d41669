import type { Campaign } from './campaign.ts'
import type { Experiment } from './experiment.ts'
import { snapshotMetrics } from './snapshot.ts'

/**
 * The numbers of the incumbent's very tree, from wherever it was measured; none where it was not. Those of the baseline
 * first: one tree measured twice is no progress.
 */
export function incumbentMetrics({
  baseline,
  incumbent,
  reference,
  origin,
  experiments,
}: Campaign): Experiment['metrics'] {
  if (incumbent.tree === reference.tree && origin !== null) return snapshotMetrics(origin)
  if (baseline !== null && baseline.tree === incumbent.tree) return snapshotMetrics(baseline.snapshot)
  const measured = Object.values(experiments).findLast(one => one.measured_tree === incumbent.tree)
  return measured?.metrics ?? {}
}
