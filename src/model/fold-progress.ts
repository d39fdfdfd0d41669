import type { Campaign, Landing, MeasuredMerge } from './campaign.ts'
import type { LedgerEvent } from './event.ts'
import type { Experiment } from './experiment.ts'
import type { Oid } from './ids.ts'
import { getIncumbentMetrics, findTreeMetrics } from './incumbent-metrics.ts'

/** A merge gains what its own order measured: base and candidate, side by side or against a stored score. */
export function addKeptStep(
  campaign: Campaign,
  { id, share, base_metrics, metrics }: Experiment,
  trees: { from: Oid; to: Oid },
): void {
  campaign.steps.push({
    experiment: id,
    by: share === null ? 'numbers' : 'pairs',
    harness: campaign.harness,
    from: { tree: trees.from, metrics: base_metrics },
    to: { tree: trees.to, metrics },
  })
}

/**
 * A landing that is taken back at once is a step to a tree that was measured before. A revert that was measured as an
 * experiment has its step by its own merge.
 */
export function addRevertStep(campaign: Campaign, event: LedgerEvent<'reverted'>): void {
  const { experiment, by_experiment, from, to } = event
  const kept = campaign.steps.findLast(step => step.experiment === experiment)
  if (by_experiment !== null || kept === undefined) return
  const before = getIncumbentMetrics(campaign)
  const after = findTreeMetrics(campaign, to.tree)
  const known = Object.keys(before).length > 0 && after !== null
  campaign.steps.push({
    experiment,
    by: kept.by,
    harness: known ? campaign.harness : kept.harness,
    from: { tree: from.tree, metrics: known ? before : kept.to.metrics },
    to: { tree: to.tree, metrics: known ? after : kept.from.metrics },
  } satisfies MeasuredMerge)
}

/** Still on the optimize branch, and not on the default branch. */
export function isOwnGain({ reverted, upstream }: Landing): boolean {
  return reverted === null && !upstream
}
