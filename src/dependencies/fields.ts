/** A manifest's tree, taken apart: the fields that hold dependencies, and all the rest. */
export type Tree = { readonly [key: string]: unknown }

/** Where a field is; `*` stands for any key. */
type Pattern = readonly string[]

export interface Field {
  path: readonly string[]
  value: unknown
}

export interface Split {
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
