import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Every branch with its commit, read where git keeps them: it is asked before every answer, and a process for that
 * would take longer than the answer. Loose ones first, as git does: one that is packed meanwhile is in either place.
 */
export async function tipsIn(dir: string): Promise<Map<string, string>> {
  const loose = await looseIn(join(dir, 'refs/heads'))
  const packed = await unlessGone(readFile(join(dir, 'packed-refs'), 'utf8'), '')
  const tips = new Map<string, string>()
  for (const [, oid = '', branch = ''] of packed.matchAll(/^([0-9a-f]{40}) refs\/heads\/(.+)$/gm))
    tips.set(branch, oid)
  for (const [branch, oid] of loose) tips.set(branch, oid)
  return new Map([...tips].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

async function looseIn(folder: string): Promise<[string, string][]> {
  const entries = await unlessGone(readdir(folder, { withFileTypes: true }), [])
  const found = entries.map(async (entry): Promise<[string, string][]> => {
    const { name } = entry
    if (entry.isDirectory())
      return (await looseIn(join(folder, name))).map(([below, oid]) => [`${name}/${below}`, oid])
    const oid = (await unlessGone(readFile(join(folder, name), 'utf8'), '')).trim()
    return /^[0-9a-f]{40}$/.test(oid) && !name.endsWith('.lock') ? [[name, oid]] : []
  })
  return (await Promise.all(found)).flat()
}

/** A branch may be deleted, and its folder with it, while we look. */
async function unlessGone<T>(reading: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return otherwise
    throw error
  }
}
