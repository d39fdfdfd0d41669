import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { HarnessError } from '../../errors.ts'
import { toPrintable } from '../../model/text.ts'
import { isMissing, isUnreachable } from '../file-system.ts'

/** Harness output is untrusted. Reads stop at this size. */
const MAX_RESULT_BYTES = 8 * 2 ** 20
const END_BYTES = 2 ** 20

type CappedText = { kind: 'text'; text: string } | { kind: 'missing' } | { kind: 'too-large'; bytes: number }

/**
 * Follows no links and opens no pipes: a harness could make winnow read or wait for any file. An inaccessible
 * file counts as missing.
 */
export function readCapped(path: string, limit = MAX_RESULT_BYTES): CappedText {
  const file = openPlain(path)
  if (file === null) return { kind: 'missing' }
  try {
    const { size } = fstatSync(file)
    if (size > limit) return { kind: 'too-large', bytes: size }
    return { kind: 'text', text: readRange(file, 0, size) }
  } finally {
    closeSync(file)
  }
}

/** The end of the output, without terminal control sequences. */
export function readOutputTail(path: string): string {
  const file = openPlain(path)
  if (file === null) return ''
  try {
    const { size } = fstatSync(file)
    const length = Math.min(size, END_BYTES)
    return toPrintable(readRange(file, size - length, length)).trimEnd()
  } finally {
    closeSync(file)
  }
}

/** `readOutputTail` drops a part. */
export function isLongerThanItsEnd(path: string): boolean {
  const file = openPlain(path)
  if (file === null) return false
  try {
    return fstatSync(file).size > END_BYTES
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
    if (isMissing(error) || isUnreachable(error) || isNoFile(error)) return null
    throw error
  }
}

/**
 * Root can read every file. In a folder of a side's user, only files of that user are outputs of the side.
 */
function isOfOtherUser(owner: number, path: string): boolean {
  const folder = lstatSync(dirname(path)).uid
  return folder !== process.getuid?.() && owner !== folder
}

function isNoFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENXIO'
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
