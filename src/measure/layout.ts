import {
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import { chmod, lchown, mkdir } from 'node:fs/promises'
import { dirname, isAbsolute, join, normalize } from 'node:path'
import { UserError } from '../errors.ts'
import { decodeName, listTreeFiles } from '../git/tree.ts'
import { copyFolder, removeAll, reopen } from './file-system.ts'
import { changeOwner, isFolder } from './isolation/side-users.ts'
import type { Owner } from './process/reaper.ts'
import { getSidePaths, type OrderSide, type Session, type SidePaths } from './session.ts'
import {
  computeContentId,
  findFirstDifference,
  listFolders,
  toDiskPath,
  type TrackedFile,
} from './tamper-check.ts'

/**
 * Makes the side on stage hold exactly its tree and shared files. Reuses an earlier order's directory if its
 * tracked files are intact. `keepBuilt` also keeps the outputs of setup.
 */
export async function layOut(session: Session, side: OrderSide, keepBuilt: boolean): Promise<void> {
  const { input, slots } = session
  const files = await listTreeFiles(input.repository, side.tree)
  const from = side.slot.tree
  await slots.note(side.slot, { tree: null })
  const reused = from !== null && (await tryReuse(session, { from, to: side.tree, files, keepBuilt }))
  if (!reused) await layOutFresh(session, side)
  await slots.note(side.slot, { tree: side.tree, ...(reused && keepBuilt ? {} : { built: null }) })
  const all = [...files, ...copyShared(session, files)]
  side.files = all.map(file => ({ ...file, path: `tree/${file.path}` }))
  if (side.owner !== null) await changeOwner(slots.stage, side.owner)
}

interface ReuseRequest {
  from: string
  to: string
  files: readonly TrackedFile[]
  keepBuilt: boolean
}

async function tryReuse(
  { paths, input: { repository } }: Session,
  { from, to, files, keepBuilt }: ReuseRequest,
): Promise<boolean> {
  const { tree } = paths
  const same = from === to
  if (!isFolder(tree)) return false
  if (!(same && keepBuilt)) {
    await removeSiblings(paths)
    await removeUntracked(tree, same ? files : await listTreeFiles(repository, from))
  }
  if (!same) await repository.updateMaterialized(from, to, tree)
  return findFirstDifference(tree, files, repository.objectFormat) === null
}

async function layOutFresh({ input, paths, slots }: Session, side: OrderSide): Promise<void> {
  await slots.note(side.slot, { built: null })
  await removeAll(paths.root)
  await mkdir(paths.root, { recursive: true })
  await input.repository.materialize(side.tree, paths.tree)
}

/** Copies shared files into a side's tree. They are checked for tampering like tracked files. */
function copyShared({ input, sharedFiles, paths }: Session, files: readonly TrackedFile[]): TrackedFile[] {
  const { sharedRoot, repository } = input
  if (sharedRoot === null) return []
  const tracked = new Set(files.map(file => file.path))
  return sharedFiles.flatMap(path => {
    if (tracked.has(path)) return []
    const target = join(paths.tree, path)
    mkdirSync(dirname(target), { recursive: true })
    rmSync(target, { force: true })
    copyFileSync(join(sharedRoot, path), target, constants.COPYFILE_FICLONE)
    const mode = (statSync(target).mode & 0o100) === 0 ? '100644' : '100755'
    return [{ path, mode, oid: computeContentId(target, false, repository.objectFormat) }]
  })
}

export async function copySide(session: Session, side: OrderSide, target: string): Promise<void> {
  await removeAll(target)
  const from = session.slots.getPath(side.slot)
  await copyFolder({ from, to: target, options: ['-a'], what: 'what it left in its directory' })
}

/** If the scorer has its own user, no other user may enter: it reads the outputs of sides there. */
export async function layOutTrusted(session: Session, dir: string): Promise<void> {
  const { repository, order } = session.input
  const { owner } = session.scorer
  await removeAll(dir)
  await mkdir(dir, { recursive: true })
  await repository.materialize(order.pin.tree, getSidePaths(dir).tree)
  if (owner === null) return
  await chmod(dir, 0o700)
  await changeOwner(dir, owner)
}

// Shared files

/** Expands `parallel.shared_files` to single files. A missing file is an error before any code runs. */
export function listSharedFiles(paths: readonly string[], root: string | null): string[] {
  if (paths.length === 0) return []
  if (root === null) {
    throw new UserError('parallel.shared_files cannot be copied: this runner has no repository', {
      place: { path: 'parallel.shared_files' },
      fix: 'run winnow in a clone of the repository, or commit the files',
    })
  }
  return paths.flatMap(path => listFilesBelow(root, requireSharedPath(path, root)))
}

function requireSharedPath(path: string, root: string): string {
  const place = { path: 'parallel.shared_files' }
  const inside = normalize(path)
  if (isAbsolute(inside) || inside === '..' || inside.startsWith('../')) {
    throw new UserError(`${path} lies outside the repository`, { place, fix: 'name files below its root' })
  }
  if (!existsSync(join(root, inside))) {
    throw new UserError(`parallel.shared_files: ${path} does not exist in ${root}`, {
      place,
      fix: 'create it, or take it off the list',
    })
  }
  return inside.replace(/\/$/, '')
}

function listFilesBelow(root: string, path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path]
  return readdirSync(join(root, path)).flatMap(name => listFilesBelow(root, `${path}/${name}`))
}

// Cleaning

/** Removes everything that the tree does not hold: files of an earlier run must not affect this one. */
export async function removeUntracked(dir: string, files: readonly TrackedFile[]): Promise<void> {
  const folders = listFolders(files)
  const kept = new Set([...folders, ...files.map(({ path }) => path)])
  const submodules = new Set(files.filter(file => file.mode === '160000').map(file => file.path))
  await removeBelow(dir, '', { kept, folders, submodules })
}

/** Anything next to the side's tree is from an earlier order. */
async function removeSiblings({ root, tree }: SidePaths): Promise<void> {
  reopen(root)
  for (const name of readdirSync(root, { encoding: 'buffer' })) {
    const path = Buffer.concat([Buffer.from(`${root}/`), name])
    if (path.toString() !== tree) await removeAll(path)
  }
}

interface KeptPaths {
  kept: ReadonlySet<string>
  /** Paths that must be real folders: writes below a link would go elsewhere. */
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
 * Clears the outputs of one execution before the next. A checkpoint of the build stays. Mostly there is
 * nothing to remove, and synchronous checks avoid the thread pool.
 */
export async function clearOutputs(paths: SidePaths, owner: Owner | null): Promise<void> {
  const { tmp, out, result, progress, stdout, stderr } = paths
  for (const path of [result, progress, stdout, stderr]) await removeOutput(path)
  const traces = join(out, 'traces')
  if (!isPristineFolder(tmp, [])) await removeAll(tmp)
  if (!isPristineFolder(out, ['traces']) || !isPristineFolder(traces, [])) await removeAll(out)
  if (!lstatSync(paths.checkpoint, { throwIfNoEntry: false })?.isDirectory())
    await removeAll(paths.checkpoint)
  for (const path of [tmp, traces, paths.checkpoint]) mkdirSync(path, { recursive: true })
  if (owner === null) return
  for (const path of [paths.root, tmp, out, traces, paths.checkpoint])
    await lchown(path, owner.uid, owner.gid)
}

async function removeOutput(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (found.isDirectory()) await removeAll(path)
  else unlinkSync(path)
}

const PERMISSIONS = 0o777

/** A real folder with default permissions and exactly these entries. */
function isPristineFolder(path: string, names: readonly string[]): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory() || (found.mode & PERMISSIONS) !== (PERMISSIONS & ~process.umask())) return false
  const there = readdirSync(path)
  return there.length === names.length && there.every((name, at) => name === names[at])
}
