import { Buffer } from 'node:buffer'
import { type Commit, type NewCommit, parseCommit, serializeCommit } from './commit-object.ts'
import { type TreeChange, replaceEntries } from './edit-tree.ts'
import { writeLooseObject } from './loose-objects.ts'
import type { ObjectFormat, ObjectType, Oid } from './object-format.ts'
import type { ObjectReader } from './object-reader.ts'
import { type EntryValue, parseTree, serializeTree, type TreeEntry } from './tree-object.ts'
import { createWeightedCache } from './weighted-cache.ts'

export interface ObjectStore {
  commit(oid: Oid): Promise<Commit>
  tree(oid: Oid): Promise<readonly TreeEntry[]>
  blob(oid: Oid): Promise<Buffer>
  /** whether this object is here; that its history is complete only `fetch` can promise */
  has(oid: Oid): Promise<boolean>
  isCommit(oid: Oid): Promise<boolean>
  /** null where the path does not exist; '' is the tree itself */
  findEntry(tree: Oid, path: string): Promise<TreeEntry | null>
  writeBlob(content: Buffer | string): Promise<Oid>
  writeTree(entries: readonly (EntryValue & { name: string })[]): Promise<Oid>
  writeCommit(commit: NewCommit): Promise<Oid>
  /** the tree with these paths set, or removed where the entry is null */
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

  /** What is small is mostly our own and read again soon. */
  function remembered(oid: Oid, bytes: Buffer): Buffer {
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
      return remembered(oid, await content(oid, 'blob'))
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
      if (typeof value === 'string') remembered(oid, bytes)
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
