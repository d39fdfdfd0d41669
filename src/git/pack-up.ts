import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { nullIfMissing } from './bare-repository.ts'
import type { GitTask } from './runner.ts'

/** Where git's own housekeeping would begin. */
const LOOSE_LIMIT = 6_700
const PACK_LIMIT = 50

/**
 * Whether objects are so many single files, or packs, that git gets slow over them. Names are digests: one of the
 * 256 folders stands for all.
 */
export async function isScattered(dir: string): Promise<boolean> {
  const sample = await names(join(dir, 'objects', '17'))
  if (sample.length * 256 > LOOSE_LIMIT) return true
  const packs = await names(join(dir, 'objects', 'pack'))
  return packs.filter(name => name.endsWith('.pack')).length > PACK_LIMIT
}

/** Packing up takes emptied folders away. */
async function names(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(nullIfMissing)) ?? []
}

/**
 * Puts together what is scattered and drops nothing: objects here have no branch to hold them, and another process
 * may push tomorrow what it wrote today.
 */
export function packUpTask(): GitTask<void> {
  const settings = ['-c', 'pack.threads=1', '-c', 'pack.window=0', '-c', 'repack.writeBitmaps=false']
  return { args: [...settings, 'repack', '--geometric=2', '-d', '-l', '-q', '-n'], parse: () => undefined }
}
