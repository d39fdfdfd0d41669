import { createHash } from 'node:crypto'

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined }

/** RFC 8785: exactly one spelling for every value, so that equal values have equal hashes. */
export function toCanonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value)
    case 'number':
      if (Number.isFinite(value)) return JSON.stringify(value)
      throw new TypeError(`not representable in JSON: ${value}`)
    case 'object':
      return Array.isArray(value)
        ? formatCanonicalArray(value)
        : value === null
          ? 'null'
          : formatCanonicalObject(value)
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
    default:
      throw new TypeError(`not representable in JSON: ${typeof value}`)
  }
}

function formatCanonicalArray(items: readonly unknown[]): string {
  return `[${items.map(toCanonicalJson).join(',')}]`
}

function formatCanonicalObject(object: object): string {
  return joinMembers(listCanonicalMembers(object).map(([, member]) => member))
}

/** Lists each name with its `"name":value` text, in canonical order. */
export function listCanonicalMembers(object: object): [name: string, member: string][] {
  const members: [string, string][] = []
  for (const [name, value] of sortEntries(Object.entries(object)))
    if (value !== undefined) members.push([name, `${JSON.stringify(name)}:${toCanonicalJson(value)}`])
  return members
}

/** Joins members, already in canonical order, to an object. */
export function joinMembers(members: readonly string[]): string {
  return `{${members.join(',')}}`
}

/**
 * Sorts by UTF-16 code units, as the RFC requires and as JavaScript compares strings. Canonical input is already
 * sorted.
 */
function sortEntries(entries: [string, unknown][]): [string, unknown][] {
  const sorted = entries.every((entry, at) => at === 0 || compareKeys(entries[at - 1] ?? entry, entry) < 0)
  return sorted ? entries : entries.sort(compareKeys)
}

function compareKeys([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1
}

/** Undefined if the text is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function hashSha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
