import { Buffer } from 'node:buffer'
import { createHash, randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import type { Oid } from '../model/ids.ts'
import type { ObjectFormat, ObjectType } from './object-format.ts'
import type { ObjectReader } from './object-reader.ts'
import { explainUnwritable } from './runner.ts'
import {
  type EntryValue,
  parseTree,
  replaceEntries,
  serializeTree,
  type TreeChange,
  type TreeEntry,
} from './tree.ts'

export interface ObjectStore {
  commit(oid: Oid): Promise<Commit>
  tree(oid: Oid): Promise<readonly TreeEntry[]>
  blob(oid: Oid): Promise<Buffer>
  /** Does not check the history of the object: only `fetch` guarantees that it is complete. */
  has(oid: Oid): Promise<boolean>
  isCommit(oid: Oid): Promise<boolean>
  /** Null where the path does not exist. An empty path means the tree itself. */
  findEntry(tree: Oid, path: string): Promise<TreeEntry | null>
  writeBlob(content: Buffer | string): Promise<Oid>
  writeTree(entries: readonly (EntryValue & { name: string })[]): Promise<Oid>
  writeCommit(commit: NewCommit): Promise<Oid>
  /** Sets or removes (null entry) these paths and returns the new tree. */
  replaceEntries(tree: Oid, changes: readonly TreeChange[]): Promise<Oid>
}

const CACHE_BYTES = 32 * 1024 * 1024
const SMALL_BYTES = 64 * 1024

export function createObjectStore(dir: string, format: ObjectFormat, reader: ObjectReader): ObjectStore {
  const trees = createWeightedCache<readonly TreeEntry[]>(CACHE_BYTES)
  const commits = createWeightedCache<Commit>(CACHE_BYTES)
  const blobs = createWeightedCache<Buffer>(SMALL_BYTES * 128)
  const rawLength = format === 'sha1' ? 20 : 32

  async function content(oid: Oid, type: ObjectType): Promise<Buffer> {
    const found = await reader.read(oid)
    if (found === null) throw new Error(`${type} ${oid} is not in ${dir}; it was not fetched`)
    if (found.type !== type) throw new Error(`${oid} is a ${found.type}, not a ${type}`)
    return found.content
  }

  function write(type: ObjectType, bytes: Buffer): Oid {
    return writeLooseObject(dir, format, type, bytes)
  }

  /** Caches small blobs: most are winnow's own and are soon read again. */
  function cacheBlob(oid: Oid, bytes: Buffer): Buffer {
    if (bytes.length <= SMALL_BYTES) blobs.set(oid, bytes, bytes.length + 200)
    return bytes
  }

  const store: ObjectStore = {
    async commit(oid) {
      const cached = commits.get(oid)
      if (cached !== undefined) return cached
      const bytes = await content(oid, 'commit')
      const commit = parseCommit(oid, bytes)
      commits.set(oid, commit, bytes.length)
      return commit
    },
    async tree(oid) {
      const cached = trees.get(oid)
      if (cached !== undefined) return cached
      const bytes = await content(oid, 'tree')
      const entries = parseTree(bytes, rawLength)
      trees.set(oid, entries, bytes.length * 4)
      return entries
    },
    async blob(oid) {
      const cached = blobs.get(oid)
      if (cached !== undefined) return cached
      return cacheBlob(oid, await content(oid, 'blob'))
    },
    async has(oid) {
      return commits.get(oid) !== undefined || (await reader.info(oid)) !== null
    },
    async isCommit(oid) {
      return (await reader.info(oid))?.type === 'commit'
    },
    findEntry: (tree, path) => findEntry(store, tree, path),
    async writeBlob(value) {
      const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value
      const oid = write('blob', bytes)
      if (typeof value === 'string') cacheBlob(oid, bytes)
      return oid
    },
    async writeTree(entries) {
      const { bytes, sorted } = serializeTree(entries)
      const oid = write('tree', bytes)
      trees.set(oid, sorted, bytes.length * 4)
      return oid
    },
    async writeCommit(commit) {
      const bytes = serializeCommit(commit)
      const oid = write('commit', bytes)
      commits.set(oid, parseCommit(oid, bytes), bytes.length)
      return oid
    },
    replaceEntries: (tree, changes) => replaceEntries(store, tree, changes),
  }
  return store
}

async function findEntry(
  store: Pick<ObjectStore, 'tree'>,
  root: Oid,
  path: string,
): Promise<TreeEntry | null> {
  let at: TreeEntry = { mode: '040000', type: 'tree', oid: root, name: '' }
  for (const name of path === '' ? [] : path.split('/')) {
    if (at.type !== 'tree') return null
    const entries = await store.tree(at.oid)
    const next = entries.find(entry => entry.name === name)
    if (next === undefined) return null
    at = next
  }
  return at
}

interface Signature {
  name: string
  email: string
  /** Seconds since the epoch. */
  date: number
}

export interface Commit {
  oid: Oid
  tree: Oid
  parents: Oid[]
  author: Signature
  committer: Signature
  message: string
  /** The kind of signature that the commit carries, which only `Signer` verifies. */
  signature: 'ssh' | 'gpg' | 'other' | null
}

export interface NewCommit {
  tree: Oid
  parents: readonly Oid[]
  message: string
  /** Seconds since the epoch, UTC. */
  date: number
}

function parseCommit(oid: Oid, bytes: Buffer): Commit {
  const text = bytes.toString('utf8')
  const blank = text.indexOf('\n\n')
  const head = blank === -1 ? text : text.slice(0, blank)
  const message = blank === -1 ? '' : text.slice(blank + 2)
  const fields = parseHeaderFields(head)
  return {
    oid,
    tree: getRequiredField(fields, 'tree', oid),
    parents: fields.filter(([key]) => key === 'parent').map(([, value]) => value),
    author: parseSignature(getRequiredField(fields, 'author', oid)),
    committer: parseSignature(getRequiredField(fields, 'committer', oid)),
    message,
    signature: detectSignature(fields),
  }
}

/** A repository with SHA-256 has a header of its own for signatures. */
function detectSignature(fields: readonly [string, string][]): Commit['signature'] {
  const [, begin] = fields.find(([name]) => name === 'gpgsig' || name === 'gpgsig-sha256') ?? []
  if (begin === undefined) return null
  if (begin === '-----BEGIN SSH SIGNATURE-----') return 'ssh'
  return begin === '-----BEGIN PGP SIGNATURE-----' ? 'gpg' : 'other'
}

function parseHeaderFields(head: string): [string, string][] {
  const fields: [string, string][] = []
  for (const line of head.split('\n')) {
    if (line.startsWith(' ')) continue
    const space = line.indexOf(' ')
    fields.push([line.slice(0, space), line.slice(space + 1)])
  }
  return fields
}

function getRequiredField(fields: readonly [string, string][], key: string, oid: Oid): string {
  const found = fields.find(([name]) => name === key)
  if (found === undefined) throw new Error(`commit ${oid} has no ${key}`)
  return found[1]
}

function parseSignature(text: string): Signature {
  const match = /^(.*?) ?<([^>]*)>.*?(-?\d+) [+-]\d+$/.exec(text)
  return {
    name: match?.[1] ?? text,
    email: match?.[2] ?? '',
    date: Number(match?.[3] ?? 0),
  }
}

/** A fixed author and committer: authorship is never evidence, and landings stay reproducible. */
const NAME = 'winnow'
const EMAIL = 'winnow@localhost'

/** The same author and committer for a commit that git writes. */
export function buildCommitIdentity(at: string): Record<string, string> {
  return {
    GIT_AUTHOR_NAME: NAME,
    GIT_AUTHOR_EMAIL: EMAIL,
    GIT_AUTHOR_DATE: at,
    GIT_COMMITTER_NAME: NAME,
    GIT_COMMITTER_EMAIL: EMAIL,
    GIT_COMMITTER_DATE: at,
  }
}

function serializeCommit(commit: NewCommit): Buffer {
  if (!Number.isSafeInteger(commit.date) || commit.date < 0) {
    throw new Error(`a commit date is whole seconds since 1970, not ${commit.date}`)
  }
  if (commit.message.includes('\0')) throw new Error('a commit message cannot contain a NUL byte')
  const signature = `${NAME} <${EMAIL}> ${commit.date} +0000`
  const lines = [`tree ${commit.tree}`, ...commit.parents.map(parent => `parent ${parent}`)]
  lines.push(`author ${signature}`, `committer ${signature}`, '')
  const message = commit.message.endsWith('\n') ? commit.message : `${commit.message}\n`
  return Buffer.from(`${lines.join('\n')}\n${message}`, 'utf8')
}

/**
 * Writes a loose object without a git process, through a temporary file and a rename. Does not sync to disk,
 * like git's default: after a power cut, winnow can recreate this repository from the remote.
 */
function writeLooseObject(gitDir: string, format: ObjectFormat, type: ObjectType, content: Buffer): Oid {
  const header = `${type} ${content.length}\0`
  const oid = createHash(format).update(header).update(content).digest('hex')
  const folder = join(gitDir, 'objects', oid.slice(0, 2))
  const file = join(folder, oid.slice(2))
  try {
    if (isStored(file)) return oid
    storeObject(folder, file, deflateSync(Buffer.concat([Buffer.from(header), content]), { level: 1 }))
  } catch (error) {
    throw explainWriteError(join(gitDir, 'objects'), error)
  }
  return oid
}

/** A power cut may leave an empty file. It counts as missing and is replaced. */
function isStored(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0
}

function storeObject(folder: string, file: string, bytes: Buffer): void {
  const temporary = join(folder, `tmp_obj_${randomBytes(6).toString('hex')}`)
  const handle = openTemporaryFile(folder, temporary)
  try {
    writeAll(handle, bytes)
    closeSync(handle)
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

function openTemporaryFile(folder: string, temporary: string): number {
  try {
    return openSync(temporary, 'wx', 0o444)
  } catch (error) {
    if (!isErrno(error) || error.code !== 'ENOENT') throw error
    mkdirSync(folder, { recursive: true })
    return openSync(temporary, 'wx', 0o444)
  }
}

function writeAll(handle: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at)
}

function isErrno(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'the directory is not writable for this user',
  EPERM: 'the directory is not writable for this user',
}

function explainWriteError(directory: string, error: unknown): unknown {
  const reason = isErrno(error) ? REASONS[error.code ?? ''] : undefined
  return reason === undefined ? error : explainUnwritable(directory, reason, error)
}

interface WeightedCache<T> {
  get(key: string): T | undefined
  set(key: string, value: T, weight: number): void
}

function createWeightedCache<T>(capacity: number): WeightedCache<T> {
  const kept = new Map<string, { value: T; weight: number }>()
  let total = 0

  function drop(key: string): void {
    total -= kept.get(key)?.weight ?? 0
    kept.delete(key)
  }

  return {
    get(key) {
      const found = kept.get(key)
      if (found === undefined) return undefined
      kept.delete(key)
      kept.set(key, found)
      return found.value
    },
    set(key, value, weight) {
      drop(key)
      if (weight > capacity) return
      kept.set(key, { value, weight })
      total += weight
      for (const oldest of kept.keys()) {
        if (total <= capacity) return
        drop(oldest)
      }
    },
  }
}
