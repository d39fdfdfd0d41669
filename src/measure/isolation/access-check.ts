import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Supervisor } from '../process/launch.ts'
import type { Owner } from '../process/reaper.ts'
import { chooseSupervisor } from '../process/supervisor.ts'
import { listPathRisks, type PathRisk, quoteShell } from './path-check.ts'
import { clearSharedFolders, requireRootOwned, type SideUsers, UnfitMachine } from './side-users.ts'

/** Lets others enter, but not list. */
const ENTER_ONLY = 0o711
const TRIAL_SECONDS = 20
/** Exit codes of a probe: no question was answered with yes, or FIRST + n for question n. */
const NONE = 9
const FIRST = 10
/** The questions of one probe, limited by the range of exit codes. */
const AT_ONCE = 200

export function makeAccessible(dir: string): void {
  mkdirSync(dir, { recursive: true })
  requireRootOwned(dir)
  chmodSync(dir, ENTER_ONLY)
}

/**
 * Runs probes as each user before any other code: it can enter the work directory, and it cannot change
 * programs on PATH or code that runs later. Also ends processes and removes temporary files that a killed
 * winnow left under these users.
 */
export async function checkUserAccess(
  { owners }: SideUsers,
  { workDir, searched, laterCode }: { workDir: string; searched: string; laterCode: readonly string[] },
  monotonic: () => number,
): Promise<void> {
  const way = listFoldersDown(workDir)
  const reaches = listPathRisks(searched)
  const later = laterCode.filter(path => lstatSync(path, { throwIfNoEntry: false }) !== undefined)
  const waysToLater = later.flatMap(path => listPathRisks(path))
  for (const owner of owners) {
    const supervisor = await chooseSupervisor({ owner, monotonic })
    const closed = way[await findFirstYes(supervisor, way.map(isClosed))]
    if (closed !== undefined) throw toAccessError(owner, closed)
    const open =
      reaches[
        await findFirstYes(
          supervisor,
          reaches.map(({ asks }) => asks),
        )
      ]
    if (open !== undefined) throw canChange(owner, open)
    const onWay =
      waysToLater[
        await findFirstYes(
          supervisor,
          waysToLater.map(({ asks }) => asks),
        )
      ]
    const writable = onWay?.folder ?? findWritable(later, owner)
    if (writable !== null) throw canChangeLater(owner, writable)
    await clearSharedFolders(owner)
  }
}

function toAccessError({ uid }: Owner, folder: string): UnfitMachine {
  return new UnfitMachine(
    `user ${uid} of a side cannot enter ${folder}`,
    `chmod o+x ${folder}, or use isolation: none`,
  )
}

function canChange({ uid }: Owner, { folder }: PathRisk): UnfitMachine {
  return new UnfitMachine(
    `user ${uid} of a side can change what others find by PATH in ${folder}`,
    `chmod -R o-w ${folder}, or take it off PATH`,
  )
}

function canChangeLater({ uid }: Owner, path: string): UnfitMachine {
  return new UnfitMachine(
    `user ${uid} of a side can write to ${path}, from which later steps of this job run code`,
    `chmod -R o-w ${path}, or use isolation: none`,
  )
}

function listFoldersDown(dir: string): string[] {
  return dir === dirname(dir) ? [dir] : [...listFoldersDown(dirname(dir)), dir]
}

function isClosed(folder: string): string {
  return `! test -x ${quoteShell(folder)}`
}

/** The index of the first question that the user's shell answers with yes. `questions.length` if none. */
async function findFirstYes(supervisor: Supervisor, questions: readonly string[]): Promise<number> {
  for (let from = 0; from < questions.length; from += AT_ONCE) {
    const asked = questions.slice(from, from + AT_ONCE)
    const code = await askShell(supervisor, asked)
    if (code !== NONE) return from + code - FIRST
  }
  return questions.length
}

async function askShell(supervisor: Supervisor, questions: readonly string[]): Promise<number> {
  const steps = questions.map((asks, at) => `if ${asks}; then exit ${FIRST + at}; fi`)
  const ended = await supervisor.run({
    command: [...steps, `exit ${NONE}`].join('\n'),
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    stdout: '/dev/null',
    stderr: '/dev/null',
    timeoutSeconds: TRIAL_SECONDS,
    signal: new AbortController().signal,
  })
  const { exitCode, unreaped } = ended
  const known = exitCode !== null && exitCode >= NONE && exitCode < FIRST + questions.length
  if (known && !(unreaped && exitCode === NONE)) return exitCode
  throw new Error(`trying a user of a side ended with ${exitCode ?? ended.signal}`)
}

/**
 * The first file or folder at or below these paths that this user can write to, replace or take over. Null if
 * none. Walks as root: a user may have write permission in a folder that it cannot list.
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
    // Write permission on its folder decides about a link; its own mode is irrelevant.
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

/** An owner can grant itself write permission. */
function canWrite(stat: Stats, { uid, gid }: Owner): boolean {
  if (stat.uid === uid) return true
  return (stat.mode & (stat.gid === gid ? 0o020 : 0o002)) !== 0
}

function canEnter(stat: Stats, { uid, gid }: Owner): boolean {
  if (stat.uid === uid) return true
  return (stat.mode & (stat.gid === gid ? 0o010 : 0o001)) !== 0
}
