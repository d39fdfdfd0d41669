import { createHash } from 'node:crypto'
import { type BigIntStats, chmodSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { decodeName, encodeName, type TreeEntry } from '../git/tree.ts'
import type { Oid } from '../model/ids.ts'
import { isUnreachable } from './file-system.ts'

/**
 * Invariant 6: records what must stay byte-identical around every execution. A file with an unchanged ctime
 * is unchanged, because no program can set it. If the ctime moved, a known file is read and compared, and an
 * unknown one counts as changed. An unknown file with a second hard link is read for the snapshot, because
 * tools that share a store change its ctime by linking it elsewhere.
 */
export interface TamperSnapshot {
  readonly entries: readonly SnapshotEntry[]
  /** The newest ctime in ns. No command may start until the file system's clock is past it. */
  readonly newest: bigint
}

export interface SnapshotEntry {
  path: string
  stamp: Stamp
  known: TrackedFile | null
  /** Digest of the sorted names in a directory. */
  names: string | null
}

type Stamp = Pick<BigIntStats, 'ino' | 'size' | 'mode' | 'ctimeNs' | 'nlink'>
type HashFormat = 'sha1' | 'sha256'

const TYPE = 0o170000n
const LINK = 0o120000n
const PLAIN = 0o100000n
const FOLDER = 0o040000n
const EXECUTABLE = 0o100n
const READABLE = 0o400n
const WRITABLE = 0o200n
const OWNERS = READABLE | WRITABLE | EXECUTABLE
const ENTERABLE = READABLE | EXECUTABLE

/**
 * Selects the known files of a full snapshot: all others may change. Their folders must stay folders: a link
 * to the same content would leave the checked and cleaned area.
 */
export function snapshotFiles(everything: TamperSnapshot, files: readonly TrackedFile[]): TamperSnapshot {
  const stamps = mapStamps(everything)
  const folders = [...listFolders(files)].map(path => ({ path, mode: '040000', oid: '' }))
  return toSnapshot(
    [...folders, ...files].map(known => {
      const stamp = stamps.get(known.path)
      if (stamp === undefined) throw new Error(`${known.path} was not laid out`)
      return { path: known.path, stamp, known, names: null }
    }),
  )
}

const MOST_SHOWN = 80

/** A side left a path that cannot be inspected, and so cannot be checked. */
export class UncheckablePath extends Error {
  override readonly name = 'UncheckablePath'
  readonly path: string
  constructor(path: string, why: string) {
    const shown = path.length > MOST_SHOWN ? `${path.slice(0, MOST_SHOWN)}…` : path
    super(`${shown} ${why}`)
    this.path = `${shown}, which ${why}`
  }
}

/** Includes folders. Reuses the stamps of `verified`, which has just been checked. */
export function snapshotEverything(
  dir: string,
  files: readonly TrackedFile[],
  format: HashFormat,
  verified?: TamperSnapshot,
): TamperSnapshot {
  const known = new Map(files.map(file => [file.path, file]))
  const stamps = verified ? mapStamps(verified) : null
  const entries: SnapshotEntry[] = []
  const pending = ['.']
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const names = listFolderNames(dir, path)
    entries.push({ path, stamp: requireStamp(dir, path), known: null, names: digestNames(names) })
    for (const name of names) {
      const below = path === '.' ? name : `${path}/${name}`
      if (isTooDeep(dir, below)) throw new UncheckablePath(below, 'is nested too deep to be inspected')
      const stamp = stamps?.get(below) ?? requireStamp(dir, below)
      if ((stamp.mode & TYPE) === FOLDER) pending.push(below)
      else
        entries.push({
          path: below,
          stamp,
          known: known.get(below) ?? toSharedFile(dir, below, stamp, format),
          names: null,
        })
    }
  }
  return toSnapshot(entries)
}

/** The first path below `dir` that differs from the snapshot. Null if none does. */
export function findTamperedPath(snapshot: TamperSnapshot, dir: string, format: HashFormat): string | null {
  for (const entry of snapshot.entries) {
    const now = readStamp(dir, entry.path)
    if (now === null) return entry.path
    if (isSame(now, entry.stamp)) continue
    if (!isStillItself(entry, now, dir, format)) return entry.path
    entry.stamp = now
  }
  return null
}

/**
 * The first tracked file whose content, read in full, differs from its tree, or whose permissions are not
 * those of a fresh layout. For a reused directory, which may have been another side's.
 */
export function findFirstDifference(
  dir: string,
  files: readonly TrackedFile[],
  format: HashFormat,
): string | null {
  for (const path of listFolders(files)) {
    const now = readStamp(dir, path)
    if (now === null || (now.mode & TYPE) !== FOLDER || (now.mode & OWNERS) !== OWNERS) return path
  }
  for (const file of files) {
    const now = readStamp(dir, file.path)
    if (now === null || !hasContent(file, now, dir, format)) return file.path
    if ((now.mode & TYPE) === PLAIN && (now.mode & WRITABLE) === 0n) return file.path
  }
  return null
}

function toSnapshot(entries: SnapshotEntry[]): TamperSnapshot {
  const newest = entries.reduce((latest, { stamp }) => (stamp.ctimeNs > latest ? stamp.ctimeNs : latest), 0n)
  return { entries, newest }
}

function mapStamps({ entries }: TamperSnapshot): Map<string, Stamp> {
  return new Map(entries.map(({ path, stamp }) => [path, stamp]))
}

function requireStamp(dir: string, path: string): Stamp {
  const stamp = readStamp(dir, path)
  if (stamp === null) throw new UncheckablePath(path, 'cannot be inspected')
  return stamp
}

/** A stored side has a slightly longer path than on stage, and must be readable there too. */
const MOST_BYTES = (process.platform === 'darwin' ? 1024 : 4096) - 64
const MOST_BYTES_A_UNIT = 3

function isTooDeep(dir: string, path: string): boolean {
  if ((dir.length + path.length) * MOST_BYTES_A_UNIT <= MOST_BYTES) return false
  return Buffer.byteLength(dir) + Buffer.byteLength(path) > MOST_BYTES
}

function isSame(a: Stamp, b: Stamp): boolean {
  return a.ctimeNs === b.ctimeNs && a.size === b.size && a.ino === b.ino && a.mode === b.mode
}

/** A file with several links may get another ctime by a link elsewhere: then its content counts. */
export function isSameFile(a: SnapshotEntry, b: SnapshotEntry): boolean {
  if (isSame(a.stamp, b.stamp)) return true
  return a.known !== null && a.known.oid === b.known?.oid && a.known.mode === b.known.mode
}

function toSharedFile(dir: string, path: string, stamp: Stamp, format: HashFormat): TrackedFile | null {
  if (stamp.nlink < 2n || (stamp.mode & TYPE) !== PLAIN) return null
  const mode = (stamp.mode & EXECUTABLE) === 0n ? '100644' : '100755'
  const oid = readIfReachable(() => computeContentId(toDiskPath(dir, path), false, format))
  return oid === null ? null : { path, mode, oid }
}

/** Called when the ctime moved. Renaming a side changes the ctime of its folder. */
function isStillItself(entry: SnapshotEntry, now: Stamp, dir: string, format: HashFormat): boolean {
  if (entry.known !== null) return hasContent(entry.known, now, dir, format)
  if (entry.names === null || now.mode !== entry.stamp.mode || now.ino !== entry.stamp.ino) return false
  return digestNames(listFolderNames(dir, entry.path)) === entry.names
}

/** Hashes piece by piece: the names may exceed the length of a string. */
function digestNames(names: readonly string[]): string {
  const hash = createHash('sha1')
  for (const name of names) hash.update(name).update('/')
  return hash.digest('hex')
}

function hasContent(file: TrackedFile, now: Stamp, dir: string, format: HashFormat): boolean {
  const type = now.mode & TYPE
  // Root could read a closed file, but its owner could not, so permissions count too.
  if (file.mode === '160000' || file.mode === '040000')
    return type === FOLDER && (now.mode & ENTERABLE) === ENTERABLE
  if (type !== (BigInt(`0o${file.mode}`) & TYPE)) return false
  if (type !== LINK && (now.mode & EXECUTABLE) !== (BigInt(`0o${file.mode}`) & EXECUTABLE)) return false
  if (type !== LINK && (now.mode & READABLE) === 0n) return false
  return (
    readIfReachable(() => computeContentId(toDiskPath(dir, file.path), type === LINK, format)) === file.oid
  )
}

/** Null for a missing or unreachable path. */
function readStamp(dir: string, path: string): Stamp | null {
  return (
    readIfReachable(() => lstatSync(toDiskPath(dir, path), { bigint: true, throwIfNoEntry: false })) ?? null
  )
}

function readIfReachable<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (isUnreachable(error)) return null
    throw error
  }
}

/** Reopens a folder that a harness closed, because an unreadable folder cannot be checked. */
function listFolderNames(dir: string, path: string): string[] {
  const folder = toDiskPath(dir, path)
  const list = () => readdirSync(folder, { encoding: 'buffer' }).map(decodeName).toSorted()
  const names = readIfReachable(list)
  if (names !== null) return names
  const opened = readIfReachable(() => {
    chmodSync(folder, 0o755)
    return list()
  })
  if (opened === null) throw new UncheckablePath(path, 'cannot be listed')
  return opened
}

// Tracked files

/** A file of known content: from git's tree, or placed by winnow. */
export interface TrackedFile {
  path: string
  mode: string
  oid: Oid
}

/** The part of git's Repository that a runner needs. It never writes to the repository. */
export interface TreeSource {
  readonly objectFormat: 'sha1' | 'sha256'
  tree(oid: Oid): Promise<readonly TreeEntry[]>
  blob(oid: Oid): Promise<Buffer>
  materialize(tree: Oid, dir: string): Promise<void>
  updateMaterialized(from: Oid, to: Oid, dir: string): Promise<void>
}

export function listFolders(files: readonly Pick<TrackedFile, 'path'>[]): Set<string> {
  const folders = new Set<string>()
  for (const { path } of files) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      if (folders.has(path.slice(0, at))) break
      folders.add(path.slice(0, at))
    }
  }
  return folders
}

const NOT_UTF8 = /[\u{DC80}-\u{DCFF}]/u

/** Names are bytes. A name that is not UTF-8 needs a Buffer. */
export function toDiskPath(dir: string, path: string): string | Buffer {
  const whole = `${dir}/${path}`
  return NOT_UTF8.test(path) ? Buffer.concat([Buffer.from(`${dir}/`), encodeName(path)]) : whole
}

/** The git blob id of a file. Files are laid out byte for byte, so it must equal the tree's id. */
export function computeContentId(path: string | Buffer, isLink: boolean, format: 'sha1' | 'sha256'): Oid {
  const content = isLink ? readlinkSync(path, { encoding: 'buffer' }) : readFileSync(path)
  return createHash(format).update(`blob ${content.length}\0`).update(content).digest('hex')
}
