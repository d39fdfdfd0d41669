import { execFile } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { copyFolder } from '../copy-left.ts'
import type { Owner } from '../process/reaper.ts'
import { removeAll } from '../remove.ts'

const run = promisify(execFile)

/** Names of one file stay names of one file: a thousand of them fill no disk. */
const COPYING = ['-RP', '--preserve=links', '--reflink=auto']
const LEFT = 'what it left in its out directory for the scorer'

/** Everything below, links themselves and never what they name. */
export async function changeOwner(path: string, { uid, gid }: Owner): Promise<void> {
  await run('chown', ['-hR', `${uid}:${gid}`, '--', path])
}

/**
 * A copy of what one user left, as it can be read by another: nothing of the first belongs to it, no link is followed,
 * and no bit by which a program would run as somebody else is kept. It is made in `room`, which is root's alone, because
 * modes are changed from a folder on, and a link in its place would be followed. What is no folder counts as an empty one.
 */
export async function copyForUser(
  owner: Owner,
  { from, room, to }: { from: string; room: string; to: string },
): Promise<void> {
  await removeAll(room)
  mkdirSync(room, { mode: 0o700 })
  const copy = join(room, 'copy')
  if (isFolder(from)) await copyFolder({ from, to: copy, options: COPYING, what: LEFT })
  else mkdirSync(copy)
  if (!isFolder(copy)) throw new Error(`${from} was replaced while it was copied`)
  chmodSync(copy, 0o700)
  await run('chmod', ['-R', 'u+rwX,go-rwx,u-s,g-s', '--', copy])
  await changeOwner(copy, owner)
  renameSync(copy, to)
  await removeAll(room)
}

export function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
