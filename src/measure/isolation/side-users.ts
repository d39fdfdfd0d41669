import { execFile } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { UserError } from '../../errors.ts'
import { copyFolder, isMissing, removeAll } from '../file-system.ts'
import type { Owner } from '../process/reaper.ts'

/** A base, at most four candidates, and the scorer. */
const USERS = 6
/** Below no home, so that whoever has a number can enter it; root's alone to write. */
export const SIDES_DIR = '/var/lib/winnow'

/** Below it, where root keeps what no side may look into: winnow's repository, which has every branch. */
export const CLOSED_DIR = join(SIDES_DIR, 'closed')

/** The users that sides run as, one each, and where such sides are measured. We must be root to become them. */
export interface SideUsers {
  /** Theirs to enter, ours to write; whoever measures with these users claims it. */
  readonly dir: string
  readonly owners: readonly Owner[]
}

const EACH = `for n in ${Array.from({ length: USERS }, (_, at) => at + 1).join(' ')}`

/** What makes them, as root: the workflows are written from it, and so is what people are told. */
export const MAKE_USERS = `${EACH}; do useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin winnow-$n; done`

export const REMOVE_USERS = `${EACH}; do userdel winnow-$n; done`

/** Why there are no such users here, and what to do about it. */
export interface MissingUsers {
  what: string
  fix: string
}

/** Those that the machine knows, whoever asks. */
export function listSideUsers(): Owner[] | MissingUsers {
  if (process.platform === 'linux') return parseOwners(readFileSync('/etc/passwd', 'utf8'))
  const what = `users for sides are not built for ${process.platform}`
  return { what, fix: 'measure on Linux, or use isolation: none' }
}

/** Everything that has to be true before a side can have a user of its own. */
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

/** Everything that runs under a number is ended with it: it may be nobody else's. */
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
        fix: `make them as root: ${MAKE_USERS}`,
      }
    const other = entries.find(entry => entry.uid === own.uid && entry.name !== name)?.name
    if (!isPlain(own.uid) || !isPlain(own.gid) || other !== undefined) {
      const whose = other === undefined ? 'which is not a plain user' : `which is also ${other}`
      return { what: `${name} has the number ${own.uid}, ${whose}`, fix: `userdel ${name}, and make it anew` }
    }
    owners.push({ uid: own.uid, gid: own.gid })
  }
  return owners
}

function isPlain(id: number): boolean {
  return Number.isSafeInteger(id) && id > 0 && id < 2 ** 32 - 2
}

const HARD_LINKS = '/proc/sys/fs/protected_hardlinks'

/** Where anybody may give a file of root's a second name in a folder of their own, giving folders away gives that away. */
function checkHardLinks(): MissingUsers | null {
  if (readLinkProtection() === '1') return null
  return {
    what: 'the kernel lets users link files of others',
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

/** Who may write there could put one side's folder in another's place. */
export function requireRootOwned(dir: string): void {
  const found = lstatSync(dir)
  const { uid, mode } = found
  if (found.isDirectory() && uid === process.getuid?.() && (mode & WRITABLE_BY_OTHERS) === 0) return
  throw new UserError(
    `${dir} can be written by others, and sides with users of their own are measured there`,
    {
      place: { file: dir },
      fix: 'give it to root with mode 0711, or remove it',
    },
  )
}

const run = promisify(execFile)

/** Names of one file stay names of one file: a thousand of them fill no disk. */
const COPYING = ['-RP', '--preserve=links', '--reflink=auto']
const LEFT = 'what it left in its out directory for the scorer'

/** Everything below, links themselves and never what they name. */
export async function changeOwner(path: string, { uid, gid }: Owner): Promise<void> {
  await run('chown', ['-hR', `${uid}:${gid}`, '--', path])
}

/**
 * A copy of what one user left, as it can be read by another: nothing of the first belongs to it, no link is followed,
 * and no bit by which a program would run as somebody else is kept. It is made in `room`, which is root's alone, because
 * modes are changed from a folder on, and a link in its place would be followed. What is no folder counts as an empty one.
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

/** Where everybody may put something that others find. */
const OPEN_TO_ALL = ['/tmp', '/var/tmp', '/dev/shm']

/**
 * What one execution put where all may write is not there for the next, of whichever side. Nothing of that user runs
 * meanwhile, and nobody else may move it: these folders are sticky.
 */
export async function clearSharedFolders({ uid }: Owner): Promise<void> {
  for (const dir of OPEN_TO_ALL)
    for (const name of listRawNames(dir)) {
      const path = Buffer.concat([Buffer.from(`${dir}/`), name])
      if (lstatSync(path, { throwIfNoEntry: false })?.uid === uid) await removeNamed(path, uid)
    }
}

/** A name that is no text is a name all the same. */
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
    const said = error instanceof Error ? error.message : String(error)
    throw new Error(`what user ${uid} of a side left cannot be removed: ${path.toString()}: ${said}`)
  }
}

/** The machine gives a side more or less than it may have, and says so before anything runs. */
export class UnfitMachine extends UserError {
  override readonly fix: string
  constructor(what: string, fix: string) {
    super(what, { place: { path: 'measurement.isolation' } })
    this.fix = fix
  }
}
