import { chmod, mkdir } from 'node:fs/promises'
import { copyLeft } from './copy-left.ts'
import { removeAll } from './remove.ts'
import { removeBeside, removeUntracked } from './scrub.ts'
import { firstDifference } from './seal.ts'
import type { Session, Side } from './session.ts'
import { copySharedFiles } from './shared-files.ts'
import { sidePaths } from './side-paths.ts'
import { type TrackedFile, trackedFiles } from './tracked-file.ts'
import { give, isFolder } from './users/give.ts'

/**
 * Brings the side on stage to exactly its tree and shared files. A directory left by an earlier order is
 * reused where it still holds what it should; `keepBuilt` also keeps what its set-up made.
 */
export async function layOut(session: Session, side: Side, keepBuilt: boolean): Promise<void> {
  const { input, slots } = session
  const files = await trackedFiles(input.repository, side.tree)
  const from = side.slot.tree
  await slots.note(side.slot, { tree: null })
  const reused = from !== null && (await reuse(session, { from, to: side.tree, files, keepBuilt }))
  if (!reused) await layOutAnew(session, side)
  await slots.note(side.slot, { tree: side.tree, ...(reused && keepBuilt ? {} : { built: null }) })
  side.files = prefixed([...files, ...copyShared(session, files)])
  if (side.owner !== null) await give(slots.stage, side.owner)
}

interface Reuse {
  from: string
  to: string
  files: readonly TrackedFile[]
  keepBuilt: boolean
}

async function reuse(session: Session, { from, to, files, keepBuilt }: Reuse): Promise<boolean> {
  const { paths, input } = session
  const { repository } = input
  const { tree } = paths
  const same = from === to
  if (!isFolder(tree)) return false
  if (!(same && keepBuilt)) {
    await removeBeside(paths)
    await removeUntracked(tree, same ? files : await trackedFiles(repository, from))
  }
  if (!same) await repository.updateMaterialized(from, to, tree)
  return firstDifference(tree, files, repository.objectFormat) === null
}

async function layOutAnew({ input, paths, slots }: Session, side: Side): Promise<void> {
  await slots.note(side.slot, { built: null })
  await removeAll(paths.root)
  await mkdir(paths.root, { recursive: true })
  await input.repository.materialize(side.tree, paths.tree)
}

function copyShared(session: Session, files: readonly TrackedFile[]): TrackedFile[] {
  const { sharedRoot, repository } = session.input
  if (sharedRoot === null) return []
  const tracked = new Set(files.map(file => file.path))
  const wanted = session.sharedFiles.filter(path => !tracked.has(path))
  return copySharedFiles(wanted, sharedRoot, session.paths.tree, repository.objectFormat)
}

function prefixed(files: readonly TrackedFile[]): TrackedFile[] {
  return files.map(file => ({ ...file, path: `tree/${file.path}` }))
}

/** A throw-away copy, or the scorer's tree: nothing of it is kept. */
export async function copyOf(session: Session, side: Side, target: string): Promise<void> {
  await removeAll(target)
  const from = session.slots.placeOf(side.slot)
  await copyLeft({ from, to: target, options: ['-a'], what: 'what it left in its directory' })
}

/** Where it is for a user of its own, nobody else may look: what one side left is read there. */
export async function layOutTrusted(session: Session, dir: string): Promise<void> {
  const { repository, order } = session.input
  const { owner } = session.scorer
  await removeAll(dir)
  await mkdir(dir, { recursive: true })
  await repository.materialize(order.pin.tree, sidePaths(dir).tree)
  if (owner === null) return
  await chmod(dir, 0o700)
  await give(dir, owner)
}
