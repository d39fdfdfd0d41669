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

export function parseMode(text: string): Mode {
  const padded = text.padStart(6, '0')
  const mode = MODES.find(known => known === padded)
  if (mode === undefined) throw new Error(`unknown mode ${text} in a git tree`)
  return mode
}

export function getEntryType(mode: Mode): TreeEntry['type'] {
  if (mode === '040000') return 'tree'
  return mode === '160000' ? 'commit' : 'blob'
}

export function parseTree(bytes: Buffer, rawOidLength: number): TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at)
    const nul = bytes.indexOf(0, space)
    if (space === -1 || nul === -1) throw new Error('a git tree object ends in the middle of an entry')
    const mode = parseMode(bytes.toString('latin1', at, space))
    const name = decodeName(bytes.subarray(space + 1, nul))
    at = nul + 1 + rawOidLength
    entries.push({ mode, type: getEntryType(mode), oid: bytes.toString('hex', nul + 1, at), name })
  }
  return entries
}

interface SortableEntry {
  entry: EntryValue & { name: string }
  name: Buffer
  key: Buffer
}

/** Git's order: bytes of the name, a directory as if its name ended in '/'. Gives back the entries as they lie. */
export function serializeTree(entries: readonly (EntryValue & { name: string })[]): {
  bytes: Buffer
  sorted: TreeEntry[]
} {
  const keyed = sortEntries(entries.map(toSortableEntry))
  const parts: Buffer[] = []
  const sorted: TreeEntry[] = []
  const seen = new Set<string>()
  for (const { entry, name } of keyed) {
    const { mode, oid } = entry
    if (seen.has(entry.name)) throw new Error(`two entries named ${entry.name} in one git tree`)
    seen.add(entry.name)
    parts.push(Buffer.from(`${mode.replace(/^0/, '')} `), name, NUL, Buffer.from(oid, 'hex'))
    sorted.push({ mode, type: getEntryType(mode), oid, name: entry.name })
  }
  return { bytes: Buffer.concat(parts), sorted }
}

const NUL = Buffer.from([0])
const SLASH = Buffer.from('/')

function toSortableEntry(entry: SortableEntry['entry']): SortableEntry {
  const name = encodeEntryName(entry.name)
  return { entry, name, key: entry.mode === '040000' ? Buffer.concat([name, SLASH]) : name }
}

/** Most trees are edited in place and are in order already: looking costs less than sorting. */
function sortEntries(keyed: SortableEntry[]): SortableEntry[] {
  const sorted = keyed.every(
    (each, at) => at === 0 || Buffer.compare(keyed[at - 1]?.key ?? each.key, each.key) <= 0,
  )
  return sorted ? keyed : keyed.sort((a, b) => Buffer.compare(a.key, b.key))
}

function encodeEntryName(name: string): Buffer {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) {
    throw new Error(`${JSON.stringify(name)} cannot be a name in a git tree`)
  }
  return encodeName(name)
}
