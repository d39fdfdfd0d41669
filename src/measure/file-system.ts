import { execFile } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { HarnessError } from '../errors.ts'

/** Mounts below the path are not ours to remove. Only GNU rm has this option. */
const REMOVING = process.platform === 'linux' ? ['-rf', '--one-file-system'] : ['-rf']

/** Removes files of untrusted code, also without permissions or nested deeper than a path can name. */
export async function removeAll(path: string | Buffer): Promise<void> {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return
    await rm(path, { recursive: true, force: true })
  } catch (error) {
    if (!isForbidden(error) && !isTooDeep(error)) throw error
    // `chmod` would follow a link to its target.
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
      await runXargs(path, 'chmod', ['-R', 'u+rwX'])
    await runXargs(path, 'rm', REMOVING)
  }
}

function isTooDeep(error: unknown): boolean {
  return error instanceof RangeError || hasErrorCode(error, 'ENAMETOOLONG')
}

/** rm and chmod need no full path. xargs passes names as bytes; Node's arguments are text. */
function runXargs(path: string | Buffer, command: string, options: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = execFile('xargs', ['-0', command, ...options, '--'], error =>
      error === null ? resolve() : reject(error),
    )
    // If xargs fails, its exit callback reports it.
    child.stdin?.on('error', () => child.stdin?.destroy())
    child.stdin?.end(Buffer.concat([Buffer.from(path), Buffer.from([0])]))
  })
}

const run = promisify(execFile)

interface CopyRequest {
  from: string
  to: string
  options: readonly string[]
  /** Names the content and its reader, for the error message. */
  what: string
}

/** A failed copy is the side's fault: a HarnessError. The caller checks for a full disk later. */
export async function copyFolder({ from, to, options, what }: CopyRequest): Promise<void> {
  try {
    await run('cp', [...options, '--', from, to])
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    // Any other code: cp could not be started.
    const failed = typeof error.code === 'number' || error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'
    if (!failed) throw error
    const stderr = error.message.trim().split('\n').at(-1) ?? ''
    throw new HarnessError(`${what} cannot be copied`, { output: { failing: [], stdout: '', stderr } })
  }
}

const OWNERS = 0o700
const PERMISSIONS = 0o7777

/** A folder without write permission can be neither emptied nor moved. */
export function reopen(folder: string | Buffer): void {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (!found?.isDirectory() || (found.mode & OWNERS) === OWNERS) return
  chmodSync(folder, (found.mode & PERMISSIONS) | OWNERS)
}

/** Null for a missing file. */
export function readTextIfPresent(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

export function listNames(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

export function hasErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}

export function isMissing(error: unknown): boolean {
  return hasErrorCode(error, 'ENOENT')
}

function isForbidden(error: unknown): boolean {
  return hasErrorCode(error, 'EACCES', 'EPERM')
}

/** Untrusted code can cause these: a link in a loop, a path too long, a file too large. */
const UNREACHABLE = ['ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOTCONN', 'ERR_FS_FILE_TOO_LARGE']

export function isUnreachable(error: unknown): boolean {
  return isForbidden(error) || hasErrorCode(error, ...UNREACHABLE)
}

// Files that winnow keeps between runs

/** Write and rename: a kill leaves a whole file or none. `flush`: keeps the content through a power cut as well. */
export function writeStoredJson(path: string, value: unknown, flush = false): void {
  mkdirSync(dirname(path), { recursive: true })
  const file = openSync(`${path}.part`, 'w')
  try {
    writeFileSync(file, JSON.stringify(value))
    if (flush) fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.part`, path)
}

/** Null for a missing file; undefined for a damaged one, which holds no JSON. */
export function readStoredJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as unknown
  } catch (error) {
    if (isMissing(error)) return null
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
