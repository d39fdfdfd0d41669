import { chmodSync, lstatSync, mkdirSync, readdirSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { quoteShell } from '../../model/text.ts'
import type { Supervisor } from '../process/launch.ts'
import type { Owner } from '../process/reaper.ts'
import { chooseSupervisor } from '../process/supervisor.ts'
import { clearSharedFolders, requireRootOwned, type SideUsers, UnfitMachine } from './side-users.ts'

/** Lets others enter, but not list. */
const ENTER_ONLY = 0o711
const PROBE_SECONDS = 20
/** Exit codes of a probe: no question was answered with yes, or FIRST_YES + n for question n. */
const ALL_NO = 9
const FIRST_YES = 10
/** The questions of one probe, limited by the range of exit codes. */
const MAX_BATCH = 200

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
  const folders = listFoldersDown(workDir)
  const pathRisks = listPathRisks(searched)
  const laterPaths = laterCode.filter(path => lstatSync(path, { throwIfNoEntry: false }) !== undefined)
  const laterRisks = laterPaths.flatMap(path => listPathRisks(path))
  for (const owner of owners) {
    const supervisor = await chooseSupervisor({ owner, monotonic })
    const inaccessible = folders[await findFirstYes(supervisor, folders.map(buildEnterTest))]
    if (inaccessible !== undefined) throw toAccessError(owner, inaccessible)
    const pathRisk = await findFirstRisk(supervisor, pathRisks)
    if (pathRisk !== undefined) throw toPathError(owner, pathRisk)
    const laterRisk = await findFirstRisk(supervisor, laterRisks)
    const writable = laterRisk?.folder ?? findWritable(laterPaths, owner)
    if (writable !== null) throw toLaterCodeError(owner, writable)
    await clearSharedFolders(owner)
  }
}

function toAccessError({ uid }: Owner, folder: string): UnfitMachine {
  return new UnfitMachine(
    `user ${uid} of a side cannot enter ${folder}`,
    `chmod o+x ${folder}, or use isolation: none`,
  )
}

function toPathError({ uid }: Owner, { folder }: PathRisk): UnfitMachine {
  return new UnfitMachine(
    `user ${uid} of a side can replace programs on PATH in ${folder}`,
    `chmod -R o-w ${folder}, or take it off PATH`,
  )
}

function toLaterCodeError({ uid }: Owner, path: string): UnfitMachine {
  return new UnfitMachine(
    `user ${uid} of a side can write to ${path}, from which later steps of this job run code`,
    `chmod -R o-w ${path}, or use isolation: none`,
  )
}

function listFoldersDown(dir: string): string[] {
  return dir === dirname(dir) ? [dir] : [...listFoldersDown(dirname(dir)), dir]
}

function buildEnterTest(folder: string): string {
  return `! test -x ${quoteShell(folder)}`
}

async function findFirstRisk(
  supervisor: Supervisor,
  risks: readonly PathRisk[],
): Promise<PathRisk | undefined> {
  const questions = risks.map(({ asks }) => asks)
  return risks[await findFirstYes(supervisor, questions)]
}

/** The index of the first question that the user's shell answers with yes. `questions.length` if none. */
async function findFirstYes(supervisor: Supervisor, questions: readonly string[]): Promise<number> {
  for (let from = 0; from < questions.length; from += MAX_BATCH) {
    const batch = questions.slice(from, from + MAX_BATCH)
    const code = await askShell(supervisor, batch)
    if (code !== ALL_NO) return from + code - FIRST_YES
  }
  return questions.length
}

async function askShell(supervisor: Supervisor, questions: readonly string[]): Promise<number> {
  const steps = questions.map((question, at) => `if ${question}; then exit ${FIRST_YES + at}; fi`)
  const ended = await supervisor.run({
    command: [...steps, `exit ${ALL_NO}`].join('\n'),
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    stdout: '/dev/null',
    stderr: '/dev/null',
    timeoutSeconds: PROBE_SECONDS,
    signal: new AbortController().signal,
  })
  const { exitCode, unreaped } = ended
  const known = exitCode !== null && exitCode >= ALL_NO && exitCode < FIRST_YES + questions.length
  if (known && !(unreaped && exitCode === ALL_NO)) return exitCode
  throw new Error(`the access check as a user of a side ended with ${exitCode ?? ended.signal}`)
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

// Programs found by PATH

/** A forbidden ability of a side's user, as a shell test, with the folder it concerns. */
export interface PathRisk {
  asks: string
  folder: string
}

/** The kernel's own limit. */
const MOST_LINKS = 40
const STICKY = 0o1000

/**
 * Programs are found by PATH. A user with write permission to a PATH folder, a program in it, or a folder on
 * the way there chooses what others run. A relative folder is in the side's own tree and affects only that
 * side.
 */
export function listPathRisks(searched: string): PathRisk[] {
  const risks = new Map<string, PathRisk>()
  const add = (test: string, folder: string) => risks.set(test, { asks: test, folder })
  for (const path of searched.split(':').filter(isAbsolute)) {
    const lookups = listLookupFolders(path)
    for (const { folder, nextExists } of lookups) {
      add(`test -O ${quoteShell(folder)}`, folder)
      // In a sticky folder only its owner can rename an entry, and the next folder exists.
      if (!(nextExists && isSticky(folder))) add(`test -w ${quoteShell(folder)}`, folder)
    }
    const last = lookups.at(-1)
    if (last?.nextExists === false && !last.ends) add(buildProgramTest(last.folder), last.folder)
  }
  return [...risks.values()]
}

interface LookupFolder {
  folder: string
  nextExists: boolean
  /** Lookup stops here because the next folder is missing. */
  ends: boolean
}

/** Every folder in which a name is looked up, including those behind links. */
function listLookupFolders(path: string): LookupFolder[] {
  const folders: LookupFolder[] = []
  let links = 0
  let at = '/'
  const parts = path.split('/')
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part === '' || part === '.') continue
    if (part === '..') {
      at = dirname(at)
      continue
    }
    const next = join(at, part)
    const found: Stats | undefined = lstatSync(next, { throwIfNoEntry: false })
    const missing = found === undefined || (found.isSymbolicLink() && ++links > MOST_LINKS)
    folders.push({ folder: at, nextExists: !missing, ends: missing })
    if (missing) return folders
    if (found.isSymbolicLink()) {
      const target = readlinkSync(next)
      parts.unshift(...target.split('/'))
      if (isAbsolute(target)) at = '/'
    } else at = next
  }
  return [...folders, { folder: at, nextExists: false, ends: false }]
}

function isSticky(folder: string): boolean {
  return (lstatSync(folder).mode & STICKY) !== 0
}

function buildProgramTest(folder: string): string {
  const own = 'test -w "$f" || test -O "$f"'
  return `(for f in ${quoteShell(folder)}/*; do if test -f "$f" && { ${own}; }; then exit 0; fi; done; exit 1)`
}
