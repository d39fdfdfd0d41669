import type { Ecosystem, PackageEntry } from './package.ts'

/** What one file says. */
export interface ManifestReading {
  packages: readonly PackageEntry[]
  /** All that is no dependency, by place: it has to stay as it is. */
  rest: ReadonlyMap<string, string>
  /** What needs what, by names of the file's own; absent where it does not say, or is not read for it. */
  installed?: ReadonlyMap<string, InstalledPackage>
}

/** A package in its place, and the places of what it needs. */
export interface InstalledPackage {
  /** null: no package, but a name that several places share. */
  package: PackageEntry | null
  /** null: which of the file's packages it gets cannot be told. */
  needs: readonly string[] | null
}

/** One kind of file; `read` throws Unreadable for what it does not know for certain. */
export interface ManifestFormat {
  ecosystem: Ecosystem
  kind: 'manifest' | 'lockfile'
  /** Whether a file of this name (or at this path), in lower case, is of this kind. */
  holds: (name: string, path: string) => boolean
  read: (text: string) => ManifestReading
}

/** The file is not what its installer would write, so two readers could find different packages in it. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

export const NO_PACKAGES: ManifestReading = { packages: [], rest: new Map() }

export function matchNames(...names: readonly string[]): ManifestFormat['holds'] {
  return name => names.includes(name)
}

/** A manifest's tree, taken apart: the fields that hold dependencies, and all the rest. */
export type Tree = { readonly [key: string]: unknown }

/** Where a field is; `*` stands for any key. */
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

/** `patterns` as in `tool.poetry.group.*.dependencies`; the rest is named by its first `depth` keys. */
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

/** What was empty stays; what is empty because its dependencies were taken out was about nothing else. */
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

/** Below the places that are named, order counts: in package.json's `exports` the first match wins. */
export function flattenPlaces(value: unknown, depth: number, at: Pattern = []): Map<string, string> {
  if (value === undefined) return new Map()
  if (at.length < depth && isTree(value)) {
    const inner = Object.entries(value).flatMap(([key, member]) => [
      ...flattenPlaces(member, depth, [...at, key]),
    ])
    return new Map(inner)
  }
  return new Map([[at.join('.'), formatJson(value)]])
}

export function formatJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => (isOdd(member) ? String(member) : member)) ?? ''
}

/** A string as it is, anything else as JSON. */
export function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : formatJson(value)
}

/** JSON writes null for what TOML calls inf and nan. */
function isOdd(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))
}

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
