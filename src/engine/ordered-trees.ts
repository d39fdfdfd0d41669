import { ConflictError, UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { Oid } from '../model/ids.ts'
import type { Order } from '../model/order.ts'

/** A candidate's tree is made anew from base and head where it is not here yet, and must be the one ordered. */
export async function bringOrderedTrees(repository: Repository, order: Order): Promise<void> {
  await bring(repository, order.pin.commit)
  await bring(repository, order.base.commit)
  await bringHoldout(repository, order)
  for (const { label, head, tree } of order.candidates) {
    if (await repository.has(tree)) continue
    await bring(repository, head)
    const merged = await repository.mergeTree(order.base.commit, head)
    if (merged.clean && merged.tree === tree) continue
    throw new UserError(`${label}: merging ${head} with the base does not give tree ${tree}`, {
      fix: 'measure the order where it was issued',
    })
  }
}

async function bringHoldout(repository: Repository, { stop }: Order): Promise<void> {
  if (stop.rule === 'holdout' && stop.source !== null && 'ref' in stop.source)
    await bring(repository, stop.source.commit)
}

/** What nobody's branch holds any more the remote may still give, or not: whether it is here then. */
export async function bringLeft(repository: Repository, commit: Oid): Promise<boolean> {
  try {
    await bring(repository, commit)
    return true
  } catch (error) {
    if (error instanceof ConflictError) return false
    throw error
  }
}

export async function bring(repository: Repository, commit: Oid): Promise<void> {
  if (!(await repository.has(commit)))
    await repository.fetch([{ ref: `refs/ordered/${commit}`, oid: commit }])
}
