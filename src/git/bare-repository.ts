import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { UserError } from '../errors.ts'
import { buildLocalIsolation } from './isolation.ts'
import type { ObjectFormat } from './object-format.ts'
import { createGitRunner, type GitTask } from './runner.ts'

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
    await mkdir(parent, { recursive: true })
    await removeAbandonedFiles(parent, `${basename(dir)}.making-`)
    const making = `${dir}.making-${randomBytes(6).toString('hex')}`
    try {
      await mkdir(making)
      await createGitRunner(buildLocalIsolation(making, env), { GIT_DEFAULT_REF_FORMAT: 'files' }).run(
        initBare(format),
      )
      await mkdir(getScratchDir(making))
      makeFanOut(join(making, 'objects'))
      await moveInto(making, dir)
    } finally {
      await rm(making, { recursive: true, force: true })
    }
  } catch (error) {
    throw explainCreateFailure(dir, error)
  }
}

/** Creates every fan-out directory, so that writing a loose object is a single step. */
function makeFanOut(objects: string): void {
  for (let byte = 0; byte < 256; byte++) mkdirSync(join(objects, byte.toString(16).padStart(2, '0')))
}

function initBare(format: ObjectFormat): GitTask<void> {
  const args = [
    'init',
    '--bare',
    '--template=',
    `--object-format=${format}`,
    '--initial-branch=winnow-unused',
    '.',
  ]
  return { args, parse: () => undefined }
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

function toSilentTask(args: readonly string[]): GitTask<void> {
  return { args, parse: () => undefined }
}
