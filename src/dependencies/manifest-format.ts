import type { PackageEntry } from './package.ts'

export interface ManifestReading {
  packages: readonly PackageEntry[]
  /** Everything that is not a dependency, by place. It must not change. */
  rest: ReadonlyMap<string, string>
  /**
   * Which package needs which, by keys of the file. Absent if the file does not say, or if winnow does not
   * read it.
   */
  installed?: ReadonlyMap<string, InstalledPackage>
}

export interface InstalledPackage {
  /** Null: this key is an alias for several entries, not a package. */
  package: PackageEntry | null
  /** Null: the file does not tell which of its packages this one gets. */
  needs: readonly string[] | null
}

/** The file differs from what its installer writes, so two readers could find different packages in it. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

export const NO_PACKAGES: ManifestReading = { packages: [], rest: new Map() }

// Trees

export type Tree = { readonly [key: string]: unknown }

/** Path of keys. `*` matches any key. */
type Pattern = readonly string[]

export interface Field {
  path: readonly string[]
  value: unknown
}

interface Split {
  fields: readonly Field[]
  rest: ReadonlyMap<string, string>
}

export function isTree(value: unknown): value is Tree {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * Splits a manifest into the fields that hold dependencies and all other content. Example of a pattern:
 * `tool.poetry.group.*.dependencies`. The rest is keyed by its first `depth` keys.
 */
export function splitFields(tree: Tree, patterns: readonly string[], depth = 1): Split {
  const fields: Field[] = []
  const kept = extractFields(
    tree,
    patterns.map(pattern => pattern.split('.')),
    [],
    fields,
  )
  return { fields, rest: flattenPlaces(kept, depth) }
}

/**
 * Keeps members that were empty before. Drops members that are empty only because their dependencies were
 * extracted.
 */
function extractFields(value: unknown, patterns: readonly Pattern[], at: Pattern, fields: Field[]): unknown {
  if (patterns.some(pattern => pattern.length === 0)) {
    fields.push({ path: at, value })
    return undefined
  }
  if (patterns.length === 0 || !isTree(value)) return value
  const members = Object.entries(value)
  const kept = members.flatMap(([key, member]) => {
    const inner = patterns.filter(([head]) => head === '*' || head === key).map(pattern => pattern.slice(1))
    const rest = extractFields(member, inner, [...at, key], fields)
    return rest === undefined ? [] : [[key, rest]]
  })
  return kept.length === 0 && members.length > 0 ? undefined : Object.fromEntries(kept)
}

/** Keeps the order below `depth`, because it can matter: in package.json's `exports` the first match wins. */
export function flattenPlaces(value: unknown, depth: number, at: Pattern = []): Map<string, string> {
  if (value === undefined) return new Map()
  if (at.length < depth && isTree(value)) {
    const inner = Object.entries(value).flatMap(([key, member]) => [
      ...flattenPlaces(member, depth, [...at, key]),
    ])
    return new Map(inner)
  }
  return new Map([[at.map(formatKey).join('.'), formatJson(value)]])
}

/** `"a.b" = 1` is another place than `a.b = 1`, and must not hide it. */
function formatKey(key: string): string {
  return /[."]/.test(key) ? JSON.stringify(key) : key
}

/** Flattens all members but those that repeat the manifests. */
export function flattenOthers(tree: Tree, repeated: readonly string[]): Map<string, string> {
  return flattenPlaces(Object.fromEntries(Object.entries(tree).filter(([key]) => !repeated.includes(key))), 1)
}

export function formatJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => (isOdd(member) ? String(member) : member)) ?? ''
}

export function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : formatJson(value)
}

/** JSON writes null for inf and nan of TOML. */
function isOdd(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))
}

// Needs between packages

/** An entry of a lockfile that refers to other packages by name alone. */
export interface NamedLockEntry {
  package: PackageEntry
  /** Names by which other entries refer to it: its own, and those that it replaces. */
  names: readonly string[]
  /** Null: the file does not say. */
  wanted: readonly string[] | null
}

/**
 * Resolves needs by name. A lockfile lists everything that is installed, so a name without an entry installs
 * no package. If several entries have the name, the installing machine decides between them, and the needs
 * are unknown.
 */
export function linkNeedsByName(entries: readonly NamedLockEntry[]): Map<string, InstalledPackage> {
  const places = new Map<string, Set<string>>()
  for (const [at, { names }] of entries.entries())
    for (const name of names) places.set(name, (places.get(name) ?? new Set()).add(String(at)))
  function resolveNeeds(wanted: readonly string[]): string[] | null {
    const found = wanted.map(name => [...(places.get(name) ?? [])])
    return found.some(({ length }) => length > 1) ? null : found.flat()
  }
  return new Map(
    entries.map(({ package: each, wanted }, at) => {
      return [String(at), { package: each, needs: wanted === null ? null : resolveNeeds(wanted) }]
    }),
  )
}

export function appendToKey<K, V>(lists: Map<K, V[]>, key: K, values: readonly V[]): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [...values])
  else list.push(...values)
}
