import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Owner } from '../process/reaper.ts'

const run = promisify(execFile)

/** Everything below, links themselves and never what they name. */
export async function give(path: string, { uid, gid }: Owner): Promise<void> {
  await run('chown', ['-hR', `${uid}:${gid}`, '--', path])
}

/**
 * A copy of what one user left, as it can be read by another: nothing of the first belongs to it, no link is followed,
 * and no bit by which a program would run as somebody else is kept.
 */
export async function copyFor(owner: Owner, from: string, to: string): Promise<void> {
  await run('cp', ['-RP', '--reflink=auto', '--', from, to])
  await run('chmod', ['-R', 'u+rwX,go-rwx,u-s,g-s', '--', to])
  await give(to, owner)
}
