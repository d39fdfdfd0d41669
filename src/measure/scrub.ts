import { chown, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeName } from '../git/path-bytes.ts'
import { removeAll } from './remove.ts'
import type { SidePaths } from './side-paths.ts'
import { onDisk, type TrackedFile } from './tracked-file.ts'

/** Removes everything a tree does not hold: what an earlier build or run left must not help or harm this one. */
export async function removeUntracked(dir: string, files: readonly TrackedFile[]): Promise<void> {
  const kept = new Set<string>()
  for (const { path } of files) {
    for (let at = path.length; at > 0; at = path.lastIndexOf('/', at - 1)) kept.add(path.slice(0, at))
  }
  const submodules = new Set(files.filter(file => file.mode === '160000').map(file => file.path))
  await removeBelow(dir, '', { kept, submodules })
}

interface Kept {
  kept: ReadonlySet<string>
  submodules: ReadonlySet<string>
}

async function removeBelow(dir: string, under: string, { kept, submodules }: Kept): Promise<void> {
  const here = under === '' ? dir : onDisk(dir, under)
  for (const entry of await readdir(here, { withFileTypes: true, encoding: 'buffer' })) {
    const name = decodeName(Buffer.from(entry.name))
    const path = under === '' ? name : `${under}/${name}`
    if (!kept.has(path) || submodules.has(path)) await removeAll(onDisk(dir, path))
    else if (entry.isDirectory()) await removeBelow(dir, path, { kept, submodules })
    if (submodules.has(path)) await mkdir(onDisk(dir, path))
  }
}

/** What one execution leaves is not there for the next. What a build saved as a checkpoint is. */
export async function emptyOutputs(
  paths: SidePaths,
  owner: { uid: number; gid: number } | undefined,
): Promise<void> {
  const { tmp, out, result, progress, stdout, stderr } = paths
  for (const path of [tmp, out, result, progress, stdout, stderr]) await removeAll(path)
  for (const path of [tmp, join(out, 'traces'), paths.checkpoint]) await mkdir(path, { recursive: true })
  if (owner === undefined) return
  for (const path of [paths.root, tmp, out, join(out, 'traces'), paths.checkpoint]) {
    await chown(path, owner.uid, owner.gid)
  }
}
