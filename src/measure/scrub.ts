import { lstatSync, mkdirSync, readdirSync, unlinkSync } from 'node:fs'
import { lchown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeName } from '../git/path-bytes.ts'
import type { Owner } from './process/reaper.ts'
import { removeAll } from './remove.ts'
import { reopen } from './reopen.ts'
import type { SidePaths } from './side-paths.ts'
import { listFolders, toDiskPath, type TrackedFile } from './tracked-file.ts'

/** Removes everything a tree does not hold: what an earlier build or run left must not help or harm this one. */
export async function removeUntracked(dir: string, files: readonly TrackedFile[]): Promise<void> {
  const folders = listFolders(files)
  const kept = new Set([...folders, ...files.map(({ path }) => path)])
  const submodules = new Set(files.filter(file => file.mode === '160000').map(file => file.path))
  await removeBelow(dir, '', { kept, folders, submodules })
}

/** Whatever lies beside a side's tree is of an earlier order. */
export async function removeSiblings({ root, tree }: SidePaths): Promise<void> {
  reopen(root)
  for (const name of readdirSync(root, { encoding: 'buffer' })) {
    const path = Buffer.concat([Buffer.from(`${root}/`), name])
    if (path.toString() !== tree) await removeAll(path)
  }
}

interface KeptPaths {
  kept: ReadonlySet<string>
  /** Those of them that must be folders: what is written below a link lands elsewhere. */
  folders: ReadonlySet<string>
  submodules: ReadonlySet<string>
}

async function removeBelow(dir: string, under: string, all: KeptPaths): Promise<void> {
  const { kept, folders, submodules } = all
  const here = under === '' ? dir : toDiskPath(dir, under)
  reopen(here)
  for (const entry of readdirSync(here, { withFileTypes: true, encoding: 'buffer' })) {
    const name = decodeName(Buffer.from(entry.name))
    const path = under === '' ? name : `${under}/${name}`
    const replaced = folders.has(path) && !entry.isDirectory()
    if (!kept.has(path) || submodules.has(path) || replaced) await removeAll(toDiskPath(dir, path))
    else if (entry.isDirectory()) await removeBelow(dir, path, all)
    if (submodules.has(path)) await mkdir(toDiskPath(dir, path))
  }
}

/**
 * What one execution leaves is not there for the next. What a build saved as a checkpoint is. Between two
 * executions there is mostly nothing to remove: looking, without a trip to the thread pool, is the fast way.
 */
export async function clearOutputs(paths: SidePaths, owner: Owner | null): Promise<void> {
  const { tmp, out, result, progress, stdout, stderr } = paths
  for (const path of [result, progress, stdout, stderr]) await removeOutput(path)
  const traces = join(out, 'traces')
  if (!isLeftAlone(tmp, [])) await removeAll(tmp)
  if (!isLeftAlone(out, ['traces']) || !isLeftAlone(traces, [])) await removeAll(out)
  if (!lstatSync(paths.checkpoint, { throwIfNoEntry: false })?.isDirectory())
    await removeAll(paths.checkpoint)
  for (const path of [tmp, traces, paths.checkpoint]) mkdirSync(path, { recursive: true })
  if (owner === null) return
  for (const path of [paths.root, tmp, out, traces, paths.checkpoint])
    await lchown(path, owner.uid, owner.gid)
}

/** Whatever another side's set-up or an earlier order kept at home is not there. */
export async function clearHome({ home }: SidePaths, { uid, gid }: Owner): Promise<void> {
  await removeAll(home)
  mkdirSync(home, { mode: 0o700 })
  await lchown(home, uid, gid)
}

async function removeOutput(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (found.isDirectory()) await removeAll(path)
  else unlinkSync(path)
}

const PERMISSIONS = 0o777

/** A real folder as it was made, with nothing in it but these. */
function isLeftAlone(path: string, names: readonly string[]): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory() || (found.mode & PERMISSIONS) !== (PERMISSIONS & ~process.umask())) return false
  const there = readdirSync(path)
  return there.length === names.length && there.every((name, at) => name === names[at])
}
