import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { MachineFailed } from './machine-failure.ts'

/** A file that needs no more than this is refused only by a disk that is full. */
const FULL_BYTES = 64 * 1024

export class DiskFull extends MachineFailed {
  override readonly name: string = 'DiskFull'
  constructor(what: 'space' | 'inode', dir: string) {
    super(`ENOSPC: no ${what} is left where it is measured, ${dir}`)
  }
}

/**
 * After something has failed: a disk that is full by then is the runner's failure and nobody's verdict, also
 * where what was captured of a harness is cut short for want of room (invariant 5). What a harness says about it
 * is not asked: it could say so to be measured again.
 */
export async function refuseFull(dir: string): Promise<void> {
  const what = findShortage(await statfs(dir), process.getuid?.() === 0)
  if (what !== null) throw new DiskFull(what, dir)
}

type FileSystemStats = Pick<StatsFs, 'bsize' | 'blocks' | 'bfree' | 'bavail' | 'files' | 'ffree'>

/** null: there is room, or the file system does not count. `root` may use what is kept back for it. */
export function findShortage(room: FileSystemStats, root: boolean): 'space' | 'inode' | null {
  const { bsize, blocks, bfree, bavail, files, ffree } = room
  if (blocks > 0 && (root ? bfree : bavail) * bsize < FULL_BYTES) return 'space'
  return files > 0 && ffree === 0 ? 'inode' : null
}
