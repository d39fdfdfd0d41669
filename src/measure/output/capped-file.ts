import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { HarnessError } from '../../errors.ts'
import { isMissing, isUnreachable } from '../file-system.ts'

/** What a harness leaves is untrusted: never more than this of it is read. */
const MAX_RESULT_BYTES = 8 * 2 ** 20
const END_BYTES = 2 ** 20
const ESCAPE = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[ -/]*[@-~]`, 'g')

type CappedText = { kind: 'text'; text: string } | { kind: 'missing' } | { kind: 'too-large'; bytes: number }

/** Links and pipes are not followed: a harness could make us read, or wait for, anything. What it closed is not there. */
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

/** The end of what was printed, without anything that could steer a terminal. */
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

/** `endOf` leaves something out. */
export function isLongerThanItsEnd(path: string): boolean {
  const file = openPlain(path)
  if (file === null) return false
  try {
    return fstatSync(file).size > END_BYTES
  } finally {
    closeSync(file)
  }
}

/** Control characters, escape sequences and direction overrides go; line ends and tabs stay. */
export function toPrintable(text: string): string {
  return text
    .replace(ESCAPE, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{C}\n\t]/gu, '')
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

/** Root reads everything: in a folder that was given away only what belongs to the same user was left there. */
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

/** Where a harness leaves what it has to say. */
export interface OutputFiles {
  result: string
  stdout: string
}

/** Null where nothing was left; what is too large to be a result is none. */
export function getOutputText(read: CappedText, what: string, example: string): string | null {
  if (read.kind === 'missing') return null
  if (read.kind === 'text') return read.text
  throw new HarnessError(`${what} is too large to be a result: ${read.bytes} bytes`, { example })
}
