import type { Oid } from './object-format.ts'
import type { ObjectStore } from './object-store.ts'

/** Commits looked at on each side before git is asked: reading one takes a tenth of a millisecond at most. */
const FEW = 64

/**
 * Whether `descendant` contains `ancestor`, where a few commits settle it; null: they do not. What a commit
 * stems from cannot contain it, so a walk down from the descendant ends there.
 */
export async function hasNearbyAncestor(
  store: Pick<ObjectStore, 'commit'>,
  descendant: Oid,
  ancestor: Oid,
): Promise<boolean | null> {
  if (ancestor === descendant) return true
  const below = await collectNearAncestors(store, ancestor)
  if (below.has(descendant)) return false
  const pending = [descendant]
  const seen = new Set(pending)
  for (const at of pending) {
    if (pending.length > FEW) return null
    for (const parent of (await store.commit(at)).parents) {
      if (parent === ancestor) return true
      if (below.has(parent) || seen.has(parent)) continue
      seen.add(parent)
      pending.push(parent)
    }
  }
  return false
}

/**
 * The one commit from which two histories parted, null where a few commits do not show it: only what lies on a
 * line without merges above it is missing on the other side, so that everything else they share is below it.
 */
export async function findForkPoint(
  store: Pick<ObjectStore, 'commit'>,
  ours: Oid,
  theirs: Oid,
): Promise<Oid | null> {
  let at = theirs
  for (let steps = 0; steps < FEW; steps++) {
    const contained = await hasNearbyAncestor(store, ours, at)
    if (contained === null) return null
    if (contained) return at
    const [parent, ...more] = (await store.commit(at)).parents
    if (parent === undefined || more.length > 0) return null
    at = parent
  }
  return null
}

async function collectNearAncestors(store: Pick<ObjectStore, 'commit'>, commit: Oid): Promise<Set<Oid>> {
  const below = new Set<Oid>()
  const pending = [commit]
  for (const at of pending) {
    if (below.size > FEW) break
    for (const parent of (await store.commit(at)).parents) {
      if (below.has(parent)) continue
      below.add(parent)
      pending.push(parent)
    }
  }
  return below
}
