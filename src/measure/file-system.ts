import { execFile } from 'node:child_process'
import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { HarnessError } from '../errors.ts'

/** What was mounted somewhere below is not what untrusted code made; other systems have no such option of that name. */
const REMOVING = process.platform === 'linux' ? ['-rf', '--one-file-system'] : ['-rf']

/** Removes what untrusted code made, also where it took away its own permissions, or nested it deeper than a path may say. */
export async function removeAll(path: string | Buffer): Promise<void> {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return
    await rm(path, { recursive: true, force: true })
  } catch (error) {
    if (!isForbidden(error) && !isTooDeep(error)) throw error
    // The modes of what a link names are not what stands in the way.
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
      await runXargs(path, 'chmod', ['-R', 'u+rwX'])
    await runXargs(path, 'rm', REMOVING)
  }
}

function isTooDeep(error: unknown): boolean {
  return error instanceof RangeError || isTooLong(error)
}

function isTooLong(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENAMETOOLONG'
}

/** These go from folder to folder and never by a whole path. Names are bytes, and arguments of ours are text. */
function runXargs(path: string | Buffer, command: string, options: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = execFile('xargs', ['-0', command, ...options, '--'], error =>
      error === null ? resolve() : reject(error),
    )
    // Where it does not start or ends early, that is said by its own end.
    child.stdin?.on('error', () => child.stdin?.destroy())
    child.stdin?.end(Buffer.concat([Buffer.from(path), Buffer.from([0])]))
  })
}

const run = promisify(execFile)

interface CopyRequest {
  from: string
  to: string
  options: readonly string[]
  /** What of it is copied, and for whom. */
  what: string
}

/** Copies what a side left. What is refused in it is the doing of whoever left it; a full disk is asked about later. */
export async function copyFolder({ from, to, options, what }: CopyRequest): Promise<void> {
  try {
    await run('cp', [...options, '--', from, to])
  } catch (error) {
    if (!isRefusal(error)) throw error
    const stderr = error.message.trim().split('\n').at(-1) ?? ''
    throw new HarnessError(`${what} cannot be copied`, { output: { failing: [], stdout: '', stderr } })
  }
}

/** It ran, and ended otherwise than well; or had more to say than anybody would read. */
function isRefusal(error: unknown): error is Error {
  if (!(error instanceof Error && 'code' in error)) return false
  return typeof error.code === 'number' || error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'
}

const OWNERS = 0o700
const PERMISSIONS = 0o7777

/** A folder of a side's as its owner can use it: without leave to write nothing in it can be removed, nor it be moved. */
export function reopen(folder: string | Buffer): void {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (!found?.isDirectory() || (found.mode & OWNERS) === OWNERS) return
  chmodSync(folder, (found.mode & PERMISSIONS) | OWNERS)
}

/** What lies in a directory; nothing where there is none. */
export function listNames(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM')
}

/**
 * What the kernel, or Node, answers about a path that untrusted code closed, led astray, made too long, or put something
 * too large at. It says nothing about the machine.
 */
const UNREACHABLE = new Set(['ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOTCONN', 'ERR_FS_FILE_TOO_LARGE'])

export function isUnreachable(error: unknown): boolean {
  if (isForbidden(error)) return true
  return error instanceof Error && 'code' in error && UNREACHABLE.has(String(error.code))
}
