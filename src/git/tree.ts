import { Buffer, isUtf8 } from 'node:buffer'
import type { Oid } from '../model/ids.ts'

// Tree objects

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

function getEntryType(mode: Mode): TreeEntry['type'] {
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

/** git's order: by bytes of the name, with a directory compared as if its name ended in '/'. */
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

/** Most edited trees are already in order, and checking costs less than sorting. */
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

// Walking

export interface TreeFile extends EntryValue {
  path: string
}

interface TreeSourceReader {
  tree(oid: Oid): Promise<readonly TreeEntry[]>
}

export async function listTreeFiles(reader: TreeSourceReader, root: Oid, under = ''): Promise<TreeFile[]> {
  const files: TreeFile[] = []
  for (const entry of await reader.tree(root)) {
    const path = under + entry.name
    if (entry.type === 'tree') files.push(...(await listTreeFiles(reader, entry.oid, `${path}/`)))
    else files.push({ path, mode: entry.mode, oid: entry.oid })
  }
  return files
}

interface TreeFileReader {
  findEntry(tree: Oid, path: string): Promise<TreeEntry | null>
  blob(oid: Oid): Promise<Buffer>
}

/** The text of a file, or null if the path is no file of the tree. */
export async function readTreeFile(reader: TreeFileReader, tree: Oid, path: string): Promise<string | null> {
  const entry = await reader.findEntry(tree, path)
  return entry?.type === 'blob' ? (await reader.blob(entry.oid)).toString('utf8') : null
}

export interface TreeDifference {
  path: string
  from: EntryValue | null
  to: EntryValue | null
}

/** Compares two trees without a git process. Never opens equal subtrees. */
export async function compareTrees(
  reader: TreeSourceReader,
  from: Oid | null,
  to: Oid | null,
  under = '',
): Promise<TreeDifference[]> {
  if (from === to) return []
  const before = await readEntriesByName(reader, from)
  const after = await readEntriesByName(reader, to)
  const differences: TreeDifference[] = []
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const was = before.get(name)
    const is = after.get(name)
    if (was?.oid === is?.oid && was?.mode === is?.mode) continue
    const path = under + name
    const [fromTree, toTree] = [toSubtree(was), toSubtree(is)]
    if (fromTree !== null || toTree !== null) {
      differences.push(...(await compareTrees(reader, fromTree, toTree, `${path}/`)))
    }
    const [fromFile, toFile] = [toFileEntry(was), toFileEntry(is)]
    if (fromFile !== null || toFile !== null) differences.push({ path, from: fromFile, to: toFile })
  }
  return differences
}

async function readEntriesByName(
  reader: TreeSourceReader,
  tree: Oid | null,
): Promise<Map<string, TreeEntry>> {
  const entries = tree === null ? [] : await reader.tree(tree)
  return new Map(entries.map(entry => [entry.name, entry]))
}

function toSubtree(entry: TreeEntry | undefined): Oid | null {
  return entry?.type === 'tree' ? entry.oid : null
}

function toFileEntry(entry: TreeEntry | undefined): EntryValue | null {
  return entry === undefined || entry.type === 'tree' ? null : { mode: entry.mode, oid: entry.oid }
}

// Editing

export interface TreeChange {
  path: string
  /** Null removes the path. */
  entry: EntryValue | null
}

interface TreePort {
  tree(oid: Oid): Promise<readonly TreeEntry[]>
  writeTree(entries: readonly (EntryValue & { name: string })[]): Promise<Oid>
}

interface TreeEdit {
  names: string[]
  entry: EntryValue | null
}

/** Removes first, so that one edit can turn a file into a directory or the reverse. */
export async function replaceEntries(
  port: TreePort,
  tree: Oid,
  changes: readonly TreeChange[],
): Promise<Oid> {
  if (changes.length === 0) return tree
  const steps = changes.map(({ path, entry }) => ({ names: path.split('/'), entry }))
  return (await editTree(port, tree, steps)) ?? port.writeTree([])
}

/** Returns null when the tree becomes empty, because git keeps no empty directories. */
async function editTree(port: TreePort, tree: Oid | null, steps: readonly TreeEdit[]): Promise<Oid | null> {
  const entries = new Map<string, EntryValue>()
  for (const entry of tree === null ? [] : await port.tree(tree)) entries.set(entry.name, entry)
  for (const [name, own] of groupByFirstName(steps)) {
    const value = await editEntry(port, name, entries.get(name), own)
    if (value === null) entries.delete(name)
    else entries.set(name, value)
  }
  if (entries.size === 0) return null
  return port.writeTree([...entries].map(([name, { mode, oid }]) => ({ name, mode, oid })))
}

async function editEntry(
  port: TreePort,
  name: string,
  current: EntryValue | undefined,
  steps: readonly TreeEdit[],
): Promise<EntryValue | null> {
  const here = steps.filter(step => step.names.length === 1)
  const below = steps.filter(step => step.names.length > 1)
  const set = here.find(step => step.entry !== null)
  const setsBelow = below.some(step => step.entry !== null)
  if (set?.entry !== undefined && set.entry !== null) {
    if (here.length > 1 || setsBelow) throw new Error(`two changes of one tree edit both set ${name}`)
    return set.entry
  }
  const kept = here.length > 0 ? undefined : current
  if (below.length === 0) return null
  if (kept !== undefined && kept.mode !== '040000' && !setsBelow) return kept
  const base = kept?.mode === '040000' ? kept.oid : null
  const inner = below.map(step => ({ names: step.names.slice(1), entry: step.entry }))
  const oid = await editTree(port, base, inner)
  return oid === null ? null : { mode: '040000', oid }
}

function groupByFirstName(steps: readonly TreeEdit[]): Map<string, TreeEdit[]> {
  const groups = new Map<string, TreeEdit[]>()
  for (const step of steps) {
    const name = step.names[0] ?? ''
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [step])
    else group.push(step)
  }
  return groups
}

// Paths

const ESCAPED = /[\u{DC80}-\u{DCFF}]/u

/**
 * Git paths are bytes. Stores the high bytes of a name that is not UTF-8 as lone surrogates, so that writing a
 * tree back never changes an untouched name.
 */
export function decodeName(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  let name = ''
  for (const byte of bytes) name += String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte)
  return name
}

export function encodeName(name: string): Buffer {
  if (!ESCAPED.test(name)) return Buffer.from(name, 'utf8')
  const parts: Buffer[] = []
  for (const char of name) {
    parts.push(ESCAPED.test(char) ? Buffer.from([char.charCodeAt(0) - 0xdc00]) : Buffer.from(char, 'utf8'))
  }
  return Buffer.concat(parts)
}

/** Decodes each path component separately, so that the result equals the joined names of the trees. */
function decodePath(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  const names: string[] = []
  for (let start = 0; start <= bytes.length; ) {
    const slash = bytes.indexOf(0x2f, start)
    const end = slash === -1 ? bytes.length : slash
    names.push(decodeName(bytes.subarray(start, end)))
    start = end + 1
  }
  return names.join('/')
}

const NAMED_ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  '\\': 92,
}

/** Undoes git's C-style quoting (core.quotePath), which keeps output in ASCII without losing a byte. */
export function unquotePath(text: string): string {
  if (!text.startsWith('"')) return text
  const bytes: number[] = []
  const body = text.slice(1, -1)
  for (let at = 0; at < body.length; at++) {
    if (body[at] !== '\\') {
      bytes.push(body.charCodeAt(at))
      continue
    }
    const named = NAMED_ESCAPES[body[at + 1] ?? '']
    bytes.push(named ?? Number.parseInt(body.slice(at + 1, at + 4), 8))
    at += named === undefined ? 3 : 1
  }
  return decodePath(Buffer.from(bytes))
}
