import { execFile } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { UserError } from '../../errors.ts'
import { copyFolder, isMissing, removeAll } from '../file-system.ts'
import type { Owner } from '../process/reaper.ts'

/** One for the base, four for candidates, one for the scorer. */
const USERS = 6
/** Writable by root only. Outside every home, so that side users can enter it. */
export const SIDES_DIR = '/var/lib/winnow'

/** Hidden from sides: winnow's repository, which holds every branch. */
export const CLOSED_DIR = join(SIDES_DIR, 'closed')

/** One user for each side, and the directory where their sides are measured. Requires root. */
export interface SideUsers {
  /** Users can enter it, only root can write. A measurement with these users claims it. */
  readonly dir: string
  readonly owners: readonly Owner[]
}

const EACH = `for n in ${Array.from({ length: USERS }, (_, at) => at + 1).join(' ')}`

/** Creates the users, as root. Used in workflows and in messages. */
export const MAKE_USERS = `${EACH}; do useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin winnow-$n; done`

export const REMOVE_USERS = `${EACH}; do userdel winnow-$n; done`

export interface MissingUsers {
  what: string
  fix: string
}

/** Lists the users that exist on this machine, also without root. */
export function listSideUsers(): Owner[] | MissingUsers {
  if (process.platform === 'linux') return parseOwners(readFileSync('/etc/passwd', 'utf8'))
  const what = `separate users for sides are not supported on ${process.platform}`
  return { what, fix: 'measure on Linux, or use isolation: none' }
}

export function findSideUsers(): SideUsers | MissingUsers {
  const owners = listSideUsers()
  if ('what' in owners) return owners
  if (process.getuid?.() === 0) return checkHardLinks() ?? { dir: SIDES_DIR, owners }
  return { what: 'only root can run code as other users', fix: 'run winnow as root, or use isolation: none' }
}

export function requireSideUsers(): SideUsers {
  const found = findSideUsers()
  if ('owners' in found) return found
  throw toMissingUsersError(found)
}

export function toMissingUsersError({ what, fix }: MissingUsers): UserError {
  return new UserError(`measurement.isolation uid: ${what}`, {
    place: { path: 'measurement.isolation' },
    fix,
  })
}

/** Every process of these users is killed after an execution, so no other account may share their ids. */
export function parseOwners(passwd: string): Owner[] | MissingUsers {
  const entries = passwd.split('\n').flatMap(line => {
    const [name = '', , uid, gid] = line.split(':')
    return uid === undefined || gid === undefined ? [] : [{ name, uid: Number(uid), gid: Number(gid) }]
  })
  const owners: Owner[] = []
  for (let at = 1; at <= USERS; at++) {
    const name = `winnow-${at}`
    const own = entries.find(entry => entry.name === name)
    if (own === undefined)
      return {
        what: `there is no user ${name}`,
        fix: `create them as root: ${MAKE_USERS}`,
      }
    const other = entries.find(entry => entry.uid === own.uid && entry.name !== name)?.name
    if (!isPlain(own.uid) || !isPlain(own.gid) || other !== undefined) {
      const conflict = other === undefined ? 'which is not a plain user' : `which is also ${other}`
      return {
        what: `${name} has the number ${own.uid}, ${conflict}`,
        fix: `userdel ${name}, and create it again`,
      }
    }
    owners.push({ uid: own.uid, gid: own.gid })
  }
  return owners
}

function isPlain(id: number): boolean {
  return Number.isSafeInteger(id) && id > 0 && id < 2 ** 32 - 2
}

const HARD_LINKS = '/proc/sys/fs/protected_hardlinks'

/** Otherwise a user could hard-link a root file into a folder whose owner winnow changes. */
function checkHardLinks(): MissingUsers | null {
  if (readLinkProtection() === '1') return null
  return {
    what: 'the kernel lets users hard-link files of other users',
    fix: 'sysctl -w fs.protected_hardlinks=1, as root',
  }
}

function readLinkProtection(): string {
  try {
    return readFileSync(HARD_LINKS, 'utf8').trim()
  } catch (error) {
    if (isMissing(error)) return ''
    throw error
  }
}

const WRITABLE_BY_OTHERS = 0o022

/** A user with write permission there could swap the folders of two sides. */
export function requireRootOwned(dir: string): void {
  const found = lstatSync(dir)
  const { uid, mode } = found
  if (found.isDirectory() && uid === process.getuid?.() && (mode & WRITABLE_BY_OTHERS) === 0) return
  throw new UserError(`other users can write to ${dir}, where sides with separate users are measured`, {
    place: { file: dir },
    fix: 'give it to root with mode 0711, or remove it',
  })
}

const run = promisify(execFile)

// Copies between users

/** Keeps hard links: a thousand names of one file must not fill the disk. */
const COPYING = ['-RP', '--preserve=links', '--reflink=auto']
const LEFT = 'what it left in its out directory for the scorer'

/** Recursive. Changes links themselves, never their targets. */
export async function changeOwner(path: string, { uid, gid }: Owner): Promise<void> {
  await run('chown', ['-hR', `${uid}:${gid}`, '--', path])
}

/**
 * Copies one user's files for another user. The copy has a new owner, follows no link and has no setuid or
 * setgid bits. It is made in `room`, which only root can enter: chmod -R follows a link that replaces its
 * starting folder. A source that is not a folder counts as empty.
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

// World-writable folders

const OPEN_TO_ALL = ['/tmp', '/var/tmp', '/dev/shm']

/**
 * Removes the user's files from world-writable folders, so that the next execution of any side does not find
 * them. No process of that user is running, and the folders are sticky, so no other user can move the files.
 */
export async function clearSharedFolders({ uid }: Owner): Promise<void> {
  for (const dir of OPEN_TO_ALL)
    for (const name of listRawNames(dir)) {
      const path = Buffer.concat([Buffer.from(`${dir}/`), name])
      if (lstatSync(path, { throwIfNoEntry: false })?.uid === uid) await removeNamed(path, uid)
    }
}

/** Bytes, because a name need not be valid text. */
function listRawNames(dir: string): Buffer[] {
  try {
    return readdirSync(dir, { encoding: 'buffer' })
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

async function removeNamed(path: Buffer, uid: number): Promise<void> {
  try {
    await removeAll(path)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`what user ${uid} of a side left cannot be removed: ${path.toString()}: ${reason}`)
  }
}

/** This machine does not isolate a side correctly. Thrown before any code runs. */
export class UnfitMachine extends UserError {
  override readonly fix: string
  constructor(what: string, fix: string) {
    super(what, { place: { path: 'measurement.isolation' } })
    this.fix = fix
  }
}
