import { Buffer } from 'node:buffer'
import { createHash, randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import type { ObjectFormat, ObjectType, Oid } from './object-format.ts'
import { explainUnwritable } from './storage-failure.ts'

/**
 * Writes one loose object without a git process: temporary file, rename; never half visible. Not synced to
 * disk, as git's own default is: after a power cut this repository can be made again from the remote.
 */
export function writeLooseObject(
  gitDir: string,
  format: ObjectFormat,
  type: ObjectType,
  content: Buffer,
): Oid {
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

/** An empty file is what a power cut may leave of an object: it counts as missing and is replaced. */
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
