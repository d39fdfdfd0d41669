import type { Repository } from '../git/repository.ts'
import type { Campaign } from '../model/campaign.ts'
import type { OwnDiff } from './own-diff.ts'

/**
 * Whoever goes on editing after a diff was kept builds on it, though their HEAD does not have it: the diff then
 * follows on what landed as well. Null where nothing of theirs landed.
 */
export async function findContinuedDiff(
  repository: Repository,
  { landings }: Pick<Campaign, 'landings'>,
  diff: OwnDiff,
): Promise<OwnDiff | null> {
  const { head, tree, hypothesis } = diff
  const own = await repository.commit(head)
  for (const landing of landings.toReversed()) {
    if (landing.reverted !== null || !(await repository.has(landing.head))) continue
    const landed = await repository.commit(landing.head)
    if (landed.tree !== own.tree && !landed.parents.includes(head)) continue
    const { date } = own.committer
    const parents = [head, landing.head]
    return { ...diff, commit: await repository.writeCommit({ tree, parents, message: hypothesis, date }) }
  }
  return null
}
