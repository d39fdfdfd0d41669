import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { ObjectFormat } from './object-format.ts'
import { encodeName } from './path-bytes.ts'
import type { TreeFile } from './tree-walk.ts'

const STAT_BYTES = 40
const MODE_OFFSET = 24

/** A git index (version 2) of these files with no work tree behind it: every stat field is zero. */
export function indexFile(format: ObjectFormat, files: readonly TreeFile[]): Buffer {
  const entries = files.map(file => ({ file, path: encodeName(file.path) }))
  entries.sort((a, b) => Buffer.compare(a.path, b.path))
  const header = Buffer.alloc(12)
  header.write('DIRC', 'latin1')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(entries.length, 8)
  const body = Buffer.concat([header, ...entries.map(({ file, path }) => indexEntry(file, path))])
  return Buffer.concat([body, createHash(format).update(body).digest()])
}

function indexEntry(file: TreeFile, path: Buffer): Buffer {
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
