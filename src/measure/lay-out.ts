import { chmod, mkdir } from 'node:fs/promises'
import { copyFolder } from './copy-left.ts'
import { removeAll } from './remove.ts'
import { removeSiblings, removeUntracked } from './scrub.ts'
import { findFirstDifference } from './seal.ts'
import type { Session, OrderSide } from './session.ts'
import { copySharedFiles } from './shared-files.ts'
import { getSidePaths } from './side-paths.ts'
import { type TrackedFile, listTrackedFiles } from './tracked-file.ts'
import { changeOwner, isFolder } from './users/give.ts'

/**
 * Brings the side on stage to exactly its tree and shared files. A directory left by an earlier order is
 * reused where it still holds what it should; `keepBuilt` also keeps what its set-up made.
 */
export async function layOut(session: Session, side: OrderSide, keepBuilt: boolean): Promise<void> {
  const { input, slots } = session
  const files = await listTrackedFiles(input.repository, side.tree)
  const from = side.slot.tree
  await slots.note(side.slot, { tree: null })
  const reused = from !== null && (await tryReuse(session, { from, to: side.tree, files, keepBuilt }))
  if (!reused) await layOutFresh(session, side)
  await slots.note(side.slot, { tree: side.tree, ...(reused && keepBuilt ? {} : { built: null }) })
  side.files = prefixPaths([...files, ...copyShared(session, files)])
  if (side.owner !== null) await changeOwner(slots.stage, side.owner)
}

interface ReuseRequest {
  from: string
  to: string
  files: readonly TrackedFile[]
  keepBuilt: boolean
}

async function tryReuse(session: Session, { from, to, files, keepBuilt }: ReuseRequest): Promise<boolean> {
  const { paths, input } = session
  const { repository } = input
  const { tree } = paths
  const same = from === to
  if (!isFolder(tree)) return false
  if (!(same && keepBuilt)) {
    await removeSiblings(paths)
    await removeUntracked(tree, same ? files : await listTrackedFiles(repository, from))
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

function copyShared(session: Session, files: readonly TrackedFile[]): TrackedFile[] {
  const { sharedRoot, repository } = session.input
  if (sharedRoot === null) return []
  const tracked = new Set(files.map(file => file.path))
  const wanted = session.sharedFiles.filter(path => !tracked.has(path))
  return copySharedFiles(wanted, sharedRoot, session.paths.tree, repository.objectFormat)
}

function prefixPaths(files: readonly TrackedFile[]): TrackedFile[] {
  return files.map(file => ({ ...file, path: `tree/${file.path}` }))
}

/** A throw-away copy, or the scorer's tree: nothing of it is kept. */
export async function copySide(session: Session, side: OrderSide, target: string): Promise<void> {
  await removeAll(target)
  const from = session.slots.getPath(side.slot)
  await copyFolder({ from, to: target, options: ['-a'], what: 'what it left in its directory' })
}

/** Where it is for a user of its own, nobody else may look: what one side left is read there. */
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
