import type { Oid } from './object-format.ts'
import type { EntryValue, TreeEntry } from './tree-object.ts'

export interface TreeFile extends EntryValue {
  path: string
}

interface TreeReader {
  tree(oid: Oid): Promise<readonly TreeEntry[]>
}

/** Every file, link and submodule below a tree, parents before what follows them. */
export async function treeFiles(reader: TreeReader, root: Oid, under = ''): Promise<TreeFile[]> {
  const files: TreeFile[] = []
  for (const entry of await reader.tree(root)) {
    const path = under + entry.name
    if (entry.type === 'tree') files.push(...(await treeFiles(reader, entry.oid, `${path}/`)))
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
export async function treeDifferences(
  reader: TreeReader,
  from: Oid | null,
  to: Oid | null,
  under = '',
): Promise<TreeDifference[]> {
  if (from === to) return []
  const before = await byName(reader, from)
  const after = await byName(reader, to)
  const differences: TreeDifference[] = []
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const was = before.get(name)
    const is = after.get(name)
    if (was?.oid === is?.oid && was?.mode === is?.mode) continue
    const path = under + name
    const [fromTree, toTree] = [subtree(was), subtree(is)]
    if (fromTree !== null || toTree !== null) {
      differences.push(...(await treeDifferences(reader, fromTree, toTree, `${path}/`)))
    }
    const [fromFile, toFile] = [file(was), file(is)]
    if (fromFile !== null || toFile !== null) differences.push({ path, from: fromFile, to: toFile })
  }
  return differences
}

async function byName(reader: TreeReader, tree: Oid | null): Promise<Map<string, TreeEntry>> {
  const entries = tree === null ? [] : await reader.tree(tree)
  return new Map(entries.map(entry => [entry.name, entry]))
}

function subtree(entry: TreeEntry | undefined): Oid | null {
  return entry?.type === 'tree' ? entry.oid : null
}

function file(entry: TreeEntry | undefined): EntryValue | null {
  return entry === undefined || entry.type === 'tree' ? null : { mode: entry.mode, oid: entry.oid }
}
