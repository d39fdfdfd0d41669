import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { toNullIfMissing } from './bare-repository.ts'
import type { GitTask } from './runner.ts'

/** Where git's own housekeeping would begin. */
const LOOSE_LIMIT = 6_700
export const PACK_LIMIT = 50

/**
 * Whether objects are so many single files, or packs, that git gets slow over them. Names are digests: one of the
 * 256 folders stands for all.
 */
export function isScattered(dir: string): boolean {
  const objects = join(dir, 'objects')
  return (
    listFilesIfPresent(join(objects, '17')).length * 256 > LOOSE_LIMIT || countPacks(objects) > PACK_LIMIT
  )
}

export function countPacks(objects: string): number {
  return listFilesIfPresent(join(objects, 'pack')).filter(name => name.endsWith('.pack')).length
}

/** Packing up takes emptied folders away. */
export function listFilesIfPresent(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    return toNullIfMissing(error) ?? []
  }
}

/**
 * Puts together what is scattered and drops nothing: objects here have no branch to hold them, and another process
 * may push tomorrow what it wrote today.
 */
export function buildRepackTask(gitDir: string): GitTask<void> {
  const settings = [
    `--git-dir=${gitDir}`,
    '-c',
    'pack.threads=1',
    '-c',
    'pack.window=0',
    '-c',
    'repack.writeBitmaps=false',
  ]
  return { args: [...settings, 'repack', '--geometric=2', '-d', '-l', '-q', '-n'], parse: () => undefined }
}
