import { rm, stat } from 'node:fs/promises'
import { toNullIfMissing } from './bare-repository.ts'
import type { RefUpdate } from './push.ts'

/** git holds the lock of a ref for milliseconds; after a minute its owner was killed. */
const STALE_MS = 60_000

/**
 * Invariant 7: a push killed while the user's own repository was writing one of our branches leaves its lock
 * there for ever. Invariant 12: only the lock of a branch we are about to write is removed.
 */
export async function removeStaleLock(stderr: string, updates: readonly RefUpdate[]): Promise<boolean> {
  const path = /Unable to create '([^']+\.lock)': File exists/.exec(stderr)?.[1]
  if (path === undefined || !updates.some(({ ref }) => path.endsWith(`/${ref}.lock`))) return false
  const found = await stat(path).catch(toNullIfMissing)
  if (found !== null && Date.now() - found.mtimeMs < STALE_MS) return false
  await rm(path, { force: true })
  return true
}
