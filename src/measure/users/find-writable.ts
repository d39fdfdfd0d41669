import { lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Owner } from '../process/reaper.ts'

/**
 * The first file or folder at or below these paths that this user can write to, replace or take over; null where there is
 * none. We are root and see all of it: the user may have the right to write in a folder that it cannot list.
 */
export function findWritable(paths: readonly string[], owner: Owner): string | null {
  for (const path of paths) {
    const found = findWritableBelow(realpathSync(path), owner)
    if (found !== null) return found
  }
  return null
}

function findWritableBelow(root: string, owner: Owner): string | null {
  if (!listFoldersAbove(root).every(folder => canEnter(lstatSync(folder), owner))) return null
  const pending = [root]
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    // Who may write to its folder replaces a link; its own mode says nothing.
    if (stat === undefined || stat.isSymbolicLink()) continue
    if (canWrite(stat, owner)) return path
    if (stat.isDirectory() && canEnter(stat, owner))
      for (const name of readdirSync(path)) pending.push(join(path, name))
  }
  return null
}

function listFoldersAbove(path: string): string[] {
  const above = dirname(path)
  return above === path ? [] : [...listFoldersAbove(above), above]
}

/** An owner without the right to write gives it to itself. */
function canWrite(stat: Stats, { uid, gid }: Owner): boolean {
  if (stat.uid === uid) return true
  return (stat.mode & (stat.gid === gid ? 0o020 : 0o002)) !== 0
}

function canEnter(stat: Stats, { uid, gid }: Owner): boolean {
  if (stat.uid === uid) return true
  return (stat.mode & (stat.gid === gid ? 0o010 : 0o001)) !== 0
}
