import { Buffer } from 'node:buffer'
import { lstatSync, mkdirSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { UserError } from '../errors.ts'
import type { Oid } from '../model/ids.ts'
import { isUnsafePath } from '../model/path.ts'
import type { ObjectStore } from './objects.ts'
import { compareTrees, type EntryValue, encodeName, type TreeDifference } from './tree.ts'

export interface Materializer {
  /** Writes exactly the files of a tree, without filters. `dir` must be empty or new. */
  materialize(tree: Oid, dir: string): Promise<void>
  /** Writes only the differences between two trees. Every other file of `dir` stays as it is. */
  updateMaterialized(from: Oid, to: Oid, dir: string): Promise<void>
}

export function createMaterializer(store: ObjectStore): Materializer {
  return {
    materialize: (tree, dir) => applyDifferences(store, dir, null, tree),
    updateMaterialized: (from, to, dir) => applyDifferences(store, dir, from, to),
  }
}

async function applyDifferences(store: ObjectStore, dir: string, from: Oid | null, to: Oid): Promise<void> {
  const differences = await compareTrees(store, from, to)
  for (const { path, to: added } of differences) if (added !== null) checkPath(path)
  const root = new CheckedFolders(dir)
  root.make('')
  for (const { path, from: removed } of differences) if (removed !== null) root.remove(path)
  const folders = new Set(differences.filter(isAdded).map(({ path }) => getParentPath(path)))
  for (const folder of folders) root.make(folder)
  await runInParallel(differences.filter(isAdded), async ({ path, to: entry }) => {
    await writeEntry(store, root.at(path), entry)
  })
}

function isAdded(difference: TreeDifference): difference is TreeDifference & { to: EntryValue } {
  return difference.to !== null
}

const MAX_PARALLEL = 16

async function runInParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  async function worker(): Promise<void> {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, items.length) }, worker))
}

/** `wx`: on a case-insensitive file system, a second name for the same file fails instead of overwriting it. */
async function writeEntry(store: ObjectStore, path: Buffer, entry: EntryValue): Promise<void> {
  if (entry.mode === '160000') {
    mkdirSync(path, { recursive: true })
    return
  }
  const content = await store.blob(entry.oid)
  if (entry.mode === '120000') symlinkSync(content, path)
  else writeFileSync(path, content, { flag: 'wx', mode: entry.mode === '100755' ? 0o755 : 0o644 })
}

/** Untrusted code may have replaced folders by links, so every folder is checked before a write. */
class CheckedFolders {
  readonly #dir: string
  readonly #real = new Set<string>()

  constructor(dir: string) {
    this.#dir = dir
  }

  at(path: string): Buffer {
    return path === ''
      ? Buffer.from(this.#dir)
      : Buffer.from([...Buffer.from(`${this.#dir}/`), ...encodeName(path)])
  }

  make(path: string): void {
    if (this.#real.has(path)) return
    if (path !== '') this.make(getParentPath(path))
    const found = lstatSync(this.at(path), { throwIfNoEntry: false })
    if (found !== undefined && !found.isDirectory() && path !== '') rmSync(this.at(path))
    if (!found?.isDirectory()) mkdirSync(this.at(path), { recursive: path === '' })
    this.#real.add(path)
  }

  remove(path: string): void {
    if (!this.#isReal(getParentPath(path))) return
    rmSync(this.at(path), { recursive: true, force: true })
    this.#removeEmpty(getParentPath(path))
  }

  #isReal(path: string): boolean {
    if (path === '' || this.#real.has(path)) return true
    if (!this.#isReal(getParentPath(path))) return false
    return lstatSync(this.at(path), { throwIfNoEntry: false })?.isDirectory() ?? false
  }

  #removeEmpty(path: string): void {
    if (path !== '' && removeIfEmpty(this.at(path))) this.#removeEmpty(getParentPath(path))
  }
}

function removeIfEmpty(folder: Buffer): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch (error) {
    if (isFull(error)) return false
    throw error
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST')
}

function getParentPath(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

function checkPath(path: string): void {
  if (!isUnsafePath(path)) return
  throw new UserError(`the tree holds a file that cannot be written safely: ${JSON.stringify(path)}`, {
    place: { path },
    fix: 'remove the file from the commit',
  })
}
