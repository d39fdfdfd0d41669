import { replaceEntries } from './edit-tree.ts'
import type { Oid } from './object-format.ts'
import type { ObjectStore } from './object-store.ts'
import { type TreeDifference, compareTrees } from './tree-walk.ts'

/**
 * The merge of two trees whose changes lie apart, without a git process; null: git has to look. Apart means
 * that no path, and no folder in the place of a file, was changed by both, and that nothing can be a rename:
 * git looks for one only where the same side both removed and added.
 */
export async function mergeDisjointTrees(
  store: ObjectStore,
  base: Oid,
  { ours, theirs }: { ours: Oid; theirs: Oid },
): Promise<Oid | null> {
  const ourChanges = await compareTrees(store, base, ours)
  const theirChanges = await compareTrees(store, base, theirs)
  if (canContainRename(ourChanges) || canContainRename(theirChanges)) return null
  if (hasOverlap(ourChanges, theirChanges) || hasOverlap(theirChanges, ourChanges)) return null
  return replaceEntries(
    store,
    ours,
    theirChanges.map(({ path, to }) => ({ path, entry: to })),
  )
}

function canContainRename(changes: readonly TreeDifference[]): boolean {
  return changes.some(({ from }) => from === null) && changes.some(({ to }) => to === null)
}

/** Whether one of `these` is at, or above, one of `those`. */
function hasOverlap(these: readonly TreeDifference[], those: readonly TreeDifference[]): boolean {
  const paths = new Set(these.map(({ path }) => path))
  return those.some(({ path }) => {
    for (let at = path.length; at > 0; at = path.lastIndexOf('/', at - 1))
      if (paths.has(path.slice(0, at))) return true
    return false
  })
}
