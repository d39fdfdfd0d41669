import type { Oid } from './object-format.ts'
import type { EntryValue, TreeEntry } from './tree-object.ts'

export interface TreeChange {
  path: string
  /** null removes whatever is at the path */
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

/** Removals come first, so that a file can become a directory and the other way round in one edit. */
export async function replaceEntries(
  port: TreePort,
  tree: Oid,
  changes: readonly TreeChange[],
): Promise<Oid> {
  if (changes.length === 0) return tree
  const steps = changes.map(({ path, entry }) => ({ names: path.split('/'), entry }))
  return (await editTree(port, tree, steps)) ?? port.writeTree([])
}

/** null: nothing is left, and git keeps no empty directories. */
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
