import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { UserError } from '../errors.ts'
import type { Oid } from '../model/ids.ts'
import { buildLocalIsolation } from './isolation.ts'
import type { ObjectFormat } from './object-format.ts'
import { createGitRunner, toSilentTask } from './runner.ts'

/** Returns null if `dir` holds no repository yet. */
export async function readRepositoryFormat(dir: string): Promise<ObjectFormat | null> {
  const config = await readFile(join(dir, 'config'), 'utf8').catch(toNullIfMissing)
  if (config === null) return null
  return /^\s*objectformat\s*=\s*sha256\s*$/im.test(config) ? 'sha256' : 'sha1'
}

/** Concurrent or killed creators leave one complete repository. */
export async function createBareRepository(
  dir: string,
  format: ObjectFormat,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const parent = dirname(dir)
  try {
    await removeAbandonedFiles(parent, `${basename(dir)}.making-`)
    const making = `${dir}.making-${randomBytes(6).toString('hex')}`
    try {
      await mkdir(making)
      const git = createGitRunner(buildLocalIsolation(making, env), { GIT_DEFAULT_REF_FORMAT: 'files' })
      const options = ['--bare', '--template=', `--object-format=${format}`, '--initial-branch=winnow-unused']
      await git.run(toSilentTask(['init', ...options, '.']))
      await mkdir(getScratchDir(making))
      // With every fan-out directory in place, writing a loose object is a single step.
      for (let byte = 0; byte < 256; byte++)
        mkdirSync(join(making, 'objects', byte.toString(16).padStart(2, '0')))
      await moveInto(making, dir)
    } finally {
      await rm(making, { recursive: true, force: true })
    }
  } catch (error) {
    throw explainCreateFailure(dir, error)
  }
}

async function moveInto(making: string, dir: string): Promise<void> {
  try {
    await rename(making, dir)
  } catch (error) {
    if ((await readRepositoryFormat(dir)) === null) throw error
  }
}

const ABANDONED_MS = 60 * 60 * 1000

/** Removes half-made files of killed processes. A live process needs milliseconds, not an hour. */
export async function removeAbandonedFiles(folder: string, prefix: string): Promise<void> {
  const now = Date.now()
  // Programs that clean or copy caches drop empty folders.
  await mkdir(folder, { recursive: true })
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue
    const path = join(folder, name)
    const made = await stat(path).catch(toNullIfMissing)
    if (made !== null && now - made.mtimeMs > ABANDONED_MS) await rm(path, { recursive: true, force: true })
  }
}

/** Holds unfinished files: temporary indexes, patches, refs before their rename. */
export function getScratchDir(dir: string): string {
  return join(dir, 'winnow-tmp')
}

export function toNullIfMissing(error: unknown): null {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) {
    return null
  }
  throw error
}

export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Reads synchronously: a small file is not worth a trip to the thread pool. */
export function readOptional(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    return toNullIfMissing(error)
  }
}

function explainCreateFailure(dir: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!/^(?:EACCES|EPERM|EROFS|ENOSPC|EDQUOT|ENOTDIR|EEXIST|ENOTEMPTY)$/.test(code)) return error
  return new UserError(`winnow cannot create its git repository at ${dir} (${code})`, {
    place: { file: dir },
    fix: 'give write permission or free space there, or choose another cache directory',
    cause: error,
  })
}

interface BorrowedObjects {
  /** A directory for the temporary repository. */
  near: string
  /** The repository whose objects are read. */
  from: string
  format: ObjectFormat
  env: Readonly<Record<string, string>>
}

/** Calls `work` with a temporary repository that reads the objects of another one. */
export async function withBorrowedObjects<T>(
  { near, from, format, env }: BorrowedObjects,
  work: (dir: string) => Promise<T>,
): Promise<T> {
  const scratch = await mkdtemp(join(near, 'winnow-borrowed-'))
  const dir = join(scratch, 'repository.git')
  try {
    await createBareRepository(dir, format, env)
    await writeFile(join(dir, 'objects/info/alternates'), `${join(from, 'objects')}\n`)
    return await work(dir)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** git requires packed refs to be sorted by name. */
export async function writePackedRefs(
  dir: string,
  refs: readonly { ref: string; oid: Oid }[],
): Promise<void> {
  const sorted = refs.toSorted((a, b) => (a.ref < b.ref ? -1 : 1))
  const lines = sorted.map(({ oid, ref }) => `${oid} ${ref}\n`)
  await writeFile(join(dir, 'packed-refs'), `# pack-refs with: sorted \n${lines.join('')}`)
}

// Repository with a work tree

const FIRST_BRANCH = 'main'

/** A fixed author and no signature: the commit differs between machines only by its date. */
const AUTHOR = ['-c', 'user.name=winnow', '-c', 'user.email=winnow@localhost', '-c', 'commit.gpgSign=false']

export async function createRepository(
  directory: string,
  env: Readonly<Record<string, string>>,
  message: string,
): Promise<void> {
  const git = createGitRunner(buildLocalIsolation(directory, env))
  await git.run(toSilentTask(['init', '--template=', `--initial-branch=${FIRST_BRANCH}`]))
  await git.run(toSilentTask(['add', '--all', '--force']))
  await git.run(toSilentTask([...AUTHOR, 'commit', '--no-verify', '-m', message]))
}
