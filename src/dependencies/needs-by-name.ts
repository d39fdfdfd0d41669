import type { PackageEntry } from './addition.ts'
import type { InstalledPackage } from './format.ts'

/** A lockfile's entry where packages need each other by name alone. */
export interface NamedLockEntry {
  package: PackageEntry
  /** What it is called by those that need it: its name, and what it stands for. */
  names: readonly string[]
  /** null: the file does not say. */
  wanted: readonly string[] | null
}

/**
 * What needs what. A lockfile has all that is installed, so a name that none of its entries has brings nothing. Of
 * several that have it, which one is meant is decided on the machine.
 */
export function linkNeedsByName(entries: readonly NamedLockEntry[]): Map<string, InstalledPackage> {
  const places = new Map<string, Set<string>>()
  for (const [at, { names }] of entries.entries())
    for (const name of names) places.set(name, (places.get(name) ?? new Set()).add(String(at)))
  function placesOf(wanted: readonly string[]): string[] | null {
    const found = wanted.map(name => [...(places.get(name) ?? [])])
    return found.some(({ length }) => length > 1) ? null : found.flat()
  }
  return new Map(
    entries.map(({ package: each, wanted }, at) => {
      return [String(at), { package: each, needs: wanted === null ? null : placesOf(wanted) }]
    }),
  )
}
