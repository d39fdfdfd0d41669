import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { ObjectFormat } from './object-format.ts'
import { decodeName, encodeName } from './path-bytes.ts'
import { parseMode } from './tree-object.ts'
import type { TreeFile } from './tree-walk.ts'

const STAT_BYTES = 40
const MODE_OFFSET = 24

/** A git index (version 2) of these files with no work tree behind it: every stat field is zero. */
export function buildIndexFile(format: ObjectFormat, files: readonly TreeFile[]): Buffer {
  const entries = files.map(file => ({ file, path: encodeName(file.path) }))
  entries.sort((a, b) => Buffer.compare(a.path, b.path))
  const header = Buffer.alloc(12)
  header.write('DIRC', 'latin1')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(entries.length, 8)
  const body = Buffer.concat([header, ...entries.map(({ file, path }) => encodeIndexEntry(file, path))])
  return Buffer.concat([body, createHash(format).update(body).digest()])
}

function encodeIndexEntry(file: TreeFile, path: Buffer): Buffer {
  const oid = Buffer.from(file.oid, 'hex')
  const length = STAT_BYTES + oid.length + 2 + path.length
  // One to eight NULs end the name on a multiple of eight.
  const entry = Buffer.alloc(length + 8 - (length % 8))
  entry.writeUInt32BE(Number.parseInt(file.mode, 8), MODE_OFFSET)
  oid.copy(entry, STAT_BYTES)
  entry.writeUInt16BE(Math.min(path.length, 0xfff), STAT_BYTES + oid.length)
  path.copy(entry, STAT_BYTES + oid.length + 2)
  return entry
}

/** The files of an index that git wrote (versions 2 and 3): conflicts and intentions to add are none. */
export function parseIndexEntries(format: ObjectFormat, bytes: Buffer): TreeFile[] {
  const version = bytes.readUInt32BE(4)
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version > 3)
    throw new Error(`unknown git index, version ${version}`)
  const oidBytes = format === 'sha1' ? 20 : 32
  const files: TreeFile[] = []
  let at = 12
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const flags = bytes.readUInt16BE(at + STAT_BYTES + oidBytes)
    const extended = (flags & EXTENDED) === 0 ? 0 : 2
    const start = at + STAT_BYTES + oidBytes + 2 + extended
    const end = bytes.indexOf(0, start)
    const mode = parseMode(bytes.readUInt32BE(at + MODE_OFFSET).toString(8))
    const oid = bytes.toString('hex', at + STAT_BYTES, at + STAT_BYTES + oidBytes)
    files.push({ path: decodeName(bytes.subarray(start, end)), mode, oid })
    at += Math.floor((end - at) / 8) * 8 + 8
  }
  return files
}

const EXTENDED = 0x4000
