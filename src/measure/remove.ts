import { execFile } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { isForbidden } from './forbidden.ts'

const run = promisify(execFile)

/** Removes what untrusted code made, also where it took away its own permissions. */
export async function removeAll(path: string | Buffer): Promise<void> {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return
    await rm(path, { recursive: true, force: true })
  } catch (error) {
    if (!isForbidden(error)) throw error
    await run('chmod', ['-R', 'u+rwX', '--', path.toString()])
    await rm(path, { recursive: true, force: true })
  }
}
