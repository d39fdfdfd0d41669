import { execFile } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { isForbidden } from './forbidden.ts'

/** What was mounted somewhere below is not what untrusted code made; other systems have no such option of that name. */
const REMOVING = process.platform === 'linux' ? ['-rf', '--one-file-system'] : ['-rf']

/** Removes what untrusted code made, also where it took away its own permissions, or nested it deeper than a path may say. */
export async function removeAll(path: string | Buffer): Promise<void> {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return
    await rm(path, { recursive: true, force: true })
  } catch (error) {
    if (!isForbidden(error) && !isTooDeep(error)) throw error
    // The modes of what a link names are not what stands in the way.
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
      await runXargs(path, 'chmod', ['-R', 'u+rwX'])
    await runXargs(path, 'rm', REMOVING)
  }
}

function isTooDeep(error: unknown): boolean {
  return error instanceof RangeError || isTooLong(error)
}

function isTooLong(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENAMETOOLONG'
}

/** These go from folder to folder and never by a whole path. Names are bytes, and arguments of ours are text. */
function runXargs(path: string | Buffer, command: string, options: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = execFile('xargs', ['-0', command, ...options, '--'], error =>
      error === null ? resolve() : reject(error),
    )
    // Where it does not start or ends early, that is said by its own end.
    child.stdin?.on('error', () => child.stdin?.destroy())
    child.stdin?.end(Buffer.concat([Buffer.from(path), Buffer.from([0])]))
  })
}
