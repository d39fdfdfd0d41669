import { chmodSync, lstatSync } from 'node:fs'

const OWNERS = 0o700
const PERMISSIONS = 0o7777

/** A folder of a side's as its owner can use it: without leave to write nothing in it can be removed, nor it be moved. */
export function reopen(folder: string | Buffer): void {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (!found?.isDirectory() || (found.mode & OWNERS) === OWNERS) return
  chmodSync(folder, (found.mode & PERMISSIONS) | OWNERS)
}
