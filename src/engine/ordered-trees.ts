import { ConflictError, UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { Oid } from '../model/ids.ts'
import type { Order } from '../model/order.ts'

/** A candidate's tree is made anew from base and head where it is not here yet, and must be the one ordered. */
export async function fetchOrderedTrees(repository: Repository, order: Order): Promise<void> {
  await fetchCommit(repository, order.pin.commit)
  await fetchCommit(repository, order.base.commit)
  await fetchHoldout(repository, order)
  for (const { label, head, tree } of order.candidates) {
    if (await repository.has(tree)) continue
    await fetchCommit(repository, head)
    const merged = await repository.mergeTree(order.base.commit, head)
    if (merged.clean && merged.tree === tree) continue
    throw new UserError(`${label}: merging ${head} with the base does not give tree ${tree}`, {
      fix: 'measure the order where it was issued',
    })
  }
}

async function fetchHoldout(repository: Repository, { stop }: Order): Promise<void> {
  if (stop.rule === 'holdout' && stop.source !== null && 'ref' in stop.source)
    await fetchCommit(repository, stop.source.commit)
}

/** What nobody's branch holds any more the remote may still give, or not: whether it is here then. */
export async function tryFetchCommit(repository: Repository, commit: Oid): Promise<boolean> {
  try {
    await fetchCommit(repository, commit)
    return true
  } catch (error) {
    if (error instanceof ConflictError) return false
    throw error
  }
}

export async function fetchCommit(repository: Repository, commit: Oid): Promise<void> {
  if (!(await repository.has(commit)))
    await repository.fetch([{ ref: `refs/ordered/${commit}`, oid: commit }])
}
