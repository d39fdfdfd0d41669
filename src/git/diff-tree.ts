import { type Mode, parseMode } from './tree-object.ts'
import type { Oid } from './object-format.ts'
import { unquotePath } from './path-bytes.ts'
import type { GitTask } from './runner.ts'

export interface DiffEntry {
  /** T: a file became a symbolic link or a submodule, or the other way round */
  status: 'A' | 'D' | 'M' | 'T'
  path: string
  /** null where the path does not exist on that side */
  oldMode: Mode | null
  newMode: Mode | null
  oldOid: Oid | null
  newOid: Oid | null
  /** lines; null for a binary file */
  added: number | null
  deleted: number | null
}

export const DIFF_OPTIONS = [
  '-r',
  '--raw',
  '--numstat',
  '--no-renames',
  '--no-abbrev',
  '--no-ext-diff',
  '--no-textconv',
] as const

export function diffTree(from: Oid, to: Oid): GitTask<DiffEntry[]> {
  return { args: ['diff-tree', ...DIFF_OPTIONS, from, to], parse: ({ stdout }) => parseDiff(stdout) }
}

const RAW = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) ([ADMT])\t(.*)$/
const NUMSTAT = /^(\d+|-)\t(\d+|-)\t(.*)$/

export function parseDiff(stdout: string): DiffEntry[] {
  const entries = new Map<string, DiffEntry>()
  for (const line of stdout.split('\n')) {
    if (line === '') continue
    if (line.startsWith(':')) {
      const entry = parseRaw(line)
      entries.set(entry.path, entry)
    } else addCounts(entries, line)
  }
  return [...entries.values()]
}

function parseRaw(line: string): DiffEntry {
  const [, oldMode = '', newMode = '', oldOid = '', newOid = '', status = '', path = ''] =
    RAW.exec(line) ?? []
  if (status !== 'A' && status !== 'D' && status !== 'M' && status !== 'T') {
    throw new Error(`git diff-tree printed a line that is not understood: ${line}`)
  }
  return {
    status,
    path: unquotePath(path),
    oldMode: status === 'A' ? null : parseMode(oldMode),
    newMode: status === 'D' ? null : parseMode(newMode),
    oldOid: status === 'A' ? null : oldOid,
    newOid: status === 'D' ? null : newOid,
    added: 0,
    deleted: 0,
  }
}

function addCounts(entries: ReadonlyMap<string, DiffEntry>, line: string): void {
  const [, added = '', deleted = '', path = ''] = NUMSTAT.exec(line) ?? []
  const entry = entries.get(unquotePath(path))
  if (entry === undefined) throw new Error(`git diff-tree counted a path it did not list: ${line}`)
  entry.added = added === '-' ? null : Number(added)
  entry.deleted = deleted === '-' ? null : Number(deleted)
}
