import { execFile } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { HarnessError } from '../../errors.ts'
import type { Owner } from '../process/reaper.ts'
import { removeAll } from '../remove.ts'

const run = promisify(execFile)

/** Everything below, links themselves and never what they name. */
export async function give(path: string, { uid, gid }: Owner): Promise<void> {
  await run('chown', ['-hR', `${uid}:${gid}`, '--', path])
}

/**
 * A copy of what one user left, as it can be read by another: nothing of the first belongs to it, no link is followed,
 * and no bit by which a program would run as somebody else is kept. It is made in `room`, which is root's alone, because
 * modes are changed from a folder on, and a link in its place would be followed. What is no folder counts as an empty one.
 */
export async function copyFor(
  owner: Owner,
  { from, room, to }: { from: string; room: string; to: string },
): Promise<void> {
  await removeAll(room)
  mkdirSync(room, { mode: 0o700 })
  const copy = join(room, 'copy')
  if (isFolder(from)) await copyTree(from, copy)
  else mkdirSync(copy)
  if (!isFolder(copy)) throw new Error(`${from} was replaced while it was copied`)
  chmodSync(copy, 0o700)
  await run('chmod', ['-R', 'u+rwX,go-rwx,u-s,g-s', '--', copy])
  await give(copy, owner)
  renameSync(copy, to)
  await removeAll(room)
}

export function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Names of one file stay names of one file: a thousand of them fill no disk. */
async function copyTree(from: string, to: string): Promise<void> {
  try {
    await run('cp', ['-RP', '--preserve=links', '--reflink=auto', '--', from, to])
  } catch (error) {
    // It ran and refused what it found, and what it found is the doing of whoever left it; a full disk is asked about later.
    if (!(error instanceof Error && 'code' in error && typeof error.code === 'number')) throw error
    throw new HarnessError('what it left in its out directory cannot be copied for the scorer', {
      stderrTail: error.message.trim().split('\n').at(-1) ?? '',
    })
  }
}
