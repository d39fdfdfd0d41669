import type { Repository } from '../../git/repository.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { Experiment } from '../../model/experiment.ts'
import { listExperiments } from '../../model/experiments.ts'
import type { ExperimentId, Oid } from '../../model/ids.ts'
import { isAwaitingPermission } from '../../model/permission.ts'

/**
 * Which open experiments have another open one's head in them that has not landed: what they bring could not be told
 * apart. Heads of people who may not write count for nothing here, or anybody could have others refused.
 */
export async function findStackedExperiments(
  repository: Pick<Repository, 'isAncestor' | 'has'>,
  { ancestors }: { ancestors: Map<string, boolean> },
  campaign: Campaign,
): Promise<Map<ExperimentId, ExperimentId>> {
  async function contains(commit: Oid, other: Oid): Promise<boolean> {
    const key = `${other} ${commit}`
    const known = ancestors.get(key)
    if (known !== undefined) return known
    const is =
      (await repository.has(commit)) &&
      (await repository.has(other)) &&
      (await repository.isAncestor(other, commit))
    ancestors.set(key, is)
    return is
  }

  const found = new Map<ExperimentId, ExperimentId>()
  const open = listExperiments(campaign).filter(({ status }) => status !== 'ended')
  for (const { id, head, number } of open.filter(({ owned, status }) => !owned && status === 'queued')) {
    for (const other of open) {
      if (head === null || other.head === null || other.id === id || isAwaitingPermission(other)) continue
      if (isSameAndLater(other, { head, number }) || (await contains(campaign.incumbent.commit, other.head)))
        continue
      if (await contains(head, other.head)) found.set(id, found.get(id) ?? other.id)
    }
  }
  return found
}

/** Of two with the same head the first is the one that was there. */
function isSameAndLater(other: Experiment, { head, number }: Pick<Experiment, 'head' | 'number'>): boolean {
  return other.head === head && other.number > number
}
