import { createHash } from 'node:crypto'
import type { Oid } from '../model/ids.ts'

export type ObjectFormat = 'sha1' | 'sha256'
export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag'

export function isObjectType(text: string): text is ObjectType {
  return text === 'blob' || text === 'tree' || text === 'commit' || text === 'tag'
}

export function isOid(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
}

export function detectObjectFormat(oid: Oid): ObjectFormat {
  return oid.length === 64 ? 'sha256' : 'sha1'
}

export function getZeroOid(format: ObjectFormat): Oid {
  return '0'.repeat(format === 'sha1' ? 40 : 64)
}

export function computeEmptyTreeOid(format: ObjectFormat): Oid {
  return createHash(format).update('tree 0\0').digest('hex')
}
