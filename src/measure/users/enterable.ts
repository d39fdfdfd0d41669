import { chmodSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { UserError } from '../../errors.ts'
import { chooseSupervisor } from '../process/choose.ts'
import type { Owner } from '../process/reaper.ts'
import type { Supervisor } from '../process/launch.ts'
import { requireOurs, type SideUsers } from './side-users.ts'
import { sweepShared } from './sweep.ts'

/** Others may enter, and cannot list what lies beside them. */
const ENTER_ONLY = 0o711
const TRIAL_SECONDS = 20
/** Exit codes of the trial: it can enter, or it is stopped by the n-th folder on the way. */
const ENTERED = 9
const CLOSED = 10

export function makeEnterable(dir: string): void {
  mkdirSync(dir, { recursive: true })
  requireOurs(dir)
  chmodSync(dir, ENTER_ONLY)
}

/**
 * Tried as each of the users, before anything else runs: that they can enter. It also ends whatever a killed winnow has
 * left running under one of their numbers, and takes away what lies about of theirs.
 */
export async function tryUsers(
  { owners }: SideUsers,
  workDir: string,
  monotonic: () => number,
): Promise<void> {
  for (const owner of owners) {
    const supervisor = await chooseSupervisor({ owner, monotonic })
    const closed = await closedTo(supervisor, workDir)
    if (closed !== null) throw cannotEnter(owner, closed)
    sweepShared(owner)
  }
}

function cannotEnter({ uid }: Owner, folder: string): UserError {
  return new UserError(`user ${uid} of a side cannot enter ${folder}`, {
    place: { path: 'measurement.isolation' },
    fix: `chmod o+x ${folder}, or use isolation: none`,
  })
}

async function closedTo(supervisor: Supervisor, workDir: string): Promise<string | null> {
  const way = [workDir]
  for (let at = workDir; at !== dirname(at); at = dirname(at)) way.unshift(dirname(at))
  const steps = way.map((folder, at) => `test -x ${quoted(folder)} || exit ${CLOSED + at}`)
  const ended = await supervisor.run({
    command: [...steps, `exit ${ENTERED}`].join('\n'),
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    stdout: '/dev/null',
    stderr: '/dev/null',
    timeoutSeconds: TRIAL_SECONDS,
    signal: new AbortController().signal,
  })
  if (ended.exitCode === ENTERED && !ended.unreaped) return null
  const closed = way[(ended.exitCode ?? 0) - CLOSED]
  if (closed !== undefined) return closed
  throw new Error(`trying a user of a side ended with ${ended.exitCode ?? ended.signal}`)
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`
}
