import { Buffer } from 'node:buffer'
import type { Oid } from './object-format.ts'
import { decodeName, encodeName } from './path-bytes.ts'

const MODES = ['040000', '100644', '100664', '100755', '120000', '160000'] as const
export type Mode = (typeof MODES)[number]

export interface EntryValue {
  mode: Mode
  oid: Oid
}

export interface TreeEntry extends EntryValue {
  type: 'blob' | 'tree' | 'commit'
  name: string
}

export function modeOf(text: string): Mode {
  const padded = text.padStart(6, '0')
  const mode = MODES.find(known => known === padded)
  if (mode === undefined) throw new Error(`unknown mode ${text} in a git tree`)
  return mode
}

export function typeOfMode(mode: Mode): TreeEntry['type'] {
  if (mode === '040000') return 'tree'
  return mode === '160000' ? 'commit' : 'blob'
}

export function parseTree(bytes: Buffer, rawOidLength: number): TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at)
    const nul = bytes.indexOf(0, space)
    if (space === -1 || nul === -1) throw new Error('a git tree object ends in the middle of an entry')
    const mode = modeOf(bytes.toString('latin1', at, space))
    const name = decodeName(bytes.subarray(space + 1, nul))
    at = nul + 1 + rawOidLength
    entries.push({ mode, type: typeOfMode(mode), oid: bytes.toString('hex', nul + 1, at), name })
  }
  return entries
}

/** Git's order: bytes of the name, a directory as if its name ended in '/'. */
export function serializeTree(entries: readonly (EntryValue & { name: string })[]): Buffer {
  const keyed = entries.map(entry => {
    const name = checkedName(entry.name)
    const key = entry.mode === '040000' ? Buffer.concat([name, Buffer.from('/')]) : name
    return { entry, name, key }
  })
  keyed.sort((a, b) => Buffer.compare(a.key, b.key))
  const seen = new Set<string>()
  const parts: Buffer[] = []
  for (const { entry, name } of keyed) {
    if (seen.has(entry.name)) throw new Error(`two entries named ${entry.name} in one git tree`)
    seen.add(entry.name)
    parts.push(Buffer.from(`${entry.mode.replace(/^0/, '')} `), name, Buffer.from([0]))
    parts.push(Buffer.from(entry.oid, 'hex'))
  }
  return Buffer.concat(parts)
}

function checkedName(name: string): Buffer {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) {
    throw new Error(`${JSON.stringify(name)} cannot be a name in a git tree`)
  }
  return encodeName(name)
}
