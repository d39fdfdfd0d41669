import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { HarnessError } from '../../errors.ts'
import { toVisibleText } from '../../model/text.ts'
import { hasErrorCode, isMissing, isUnreachable } from '../file-system.ts'

/** Harness output is untrusted. Reads stop at this size. */
const MAX_RESULT_BYTES = 8 * 2 ** 20
const END_BYTES = 2 ** 20

type CappedText = { kind: 'text'; text: string } | { kind: 'missing' } | { kind: 'too-large'; bytes: number }

/** Follows no links and opens no pipes, because a harness could make winnow read or wait for any file. */
export function readCapped(path: string, limit = MAX_RESULT_BYTES): CappedText {
  const missing: CappedText = { kind: 'missing' }
  return readPlain<CappedText>(path, missing, (file, size) =>
    size > limit ? { kind: 'too-large', bytes: size } : { kind: 'text', text: readRange(file, 0, size) },
  )
}

/** The end of the output, without terminal control sequences. */
export function readOutputTail(path: string): string {
  return readPlain(path, '', (file, size) => {
    const length = Math.min(size, END_BYTES)
    return toVisibleText(readRange(file, size - length, length)).trimEnd()
  })
}

/** `readOutputTail` drops a part. */
export function isLongerThanItsEnd(path: string): boolean {
  return readPlain(path, false, (_, size) => size > END_BYTES)
}

function readPlain<T>(path: string, missing: T, read: (file: number, size: number) => T): T {
  const file = openPlain(path)
  if (file === null) return missing
  try {
    return read(file, fstatSync(file).size)
  } finally {
    closeSync(file)
  }
}

function openPlain(path: string): number | null {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const found = fstatSync(file)
    if (found.isFile() && !isOfOtherUser(found.uid, path)) return file
    closeSync(file)
    return null
  } catch (error) {
    if (isMissing(error) || isUnreachable(error) || hasErrorCode(error, 'ENXIO')) return null
    throw error
  }
}

/** Root can read every file, but only files of the folder's owner are outputs of the side. */
function isOfOtherUser(owner: number, path: string): boolean {
  const folder = lstatSync(dirname(path)).uid
  return folder !== process.getuid?.() && owner !== folder
}

function readRange(file: number, position: number, length: number): string {
  const bytes = Buffer.alloc(length)
  const read = readSync(file, bytes, 0, length, position)
  return bytes.toString('utf8', 0, read)
}

export interface OutputFiles {
  result: string
  stdout: string
}

/** Null if the file is missing. Throws if it is too large to be a result. */
export function getOutputText(read: CappedText, what: string, example: string): string | null {
  if (read.kind === 'missing') return null
  if (read.kind === 'text') return read.text
  throw new HarnessError(`${what} is too large to be a result: ${read.bytes} bytes`, { example })
}
