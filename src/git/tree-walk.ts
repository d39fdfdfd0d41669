import type { Oid } from './object-format.ts'
import type { EntryValue, TreeEntry } from './tree-object.ts'

export interface TreeFile extends EntryValue {
  path: string
}

interface TreeSourceReader {
  tree(oid: Oid): Promise<readonly TreeEntry[]>
}

/** Every file, link and submodule below a tree, parents before what follows them. */
export async function listTreeFiles(reader: TreeSourceReader, root: Oid, under = ''): Promise<TreeFile[]> {
  const files: TreeFile[] = []
  for (const entry of await reader.tree(root)) {
    const path = under + entry.name
    if (entry.type === 'tree') files.push(...(await listTreeFiles(reader, entry.oid, `${path}/`)))
    else files.push({ path, mode: entry.mode, oid: entry.oid })
  }
  return files
}

export interface TreeDifference {
  path: string
  from: EntryValue | null
  to: EntryValue | null
}

/** Where two trees differ, without a git process: equal subtrees are never opened. */
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
