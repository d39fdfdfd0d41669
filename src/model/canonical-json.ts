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
        ? `[${value.map(toCanonicalJson).join(',')}]`
        : value === null
          ? 'null'
          : joinMembers(listCanonicalMembers(value).map(([, member]) => member))
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
    default:
      throw new TypeError(`not representable in JSON: ${typeof value}`)
  }
}

/** Lists each name with its `"name":value` text, by UTF-16 code units, as JavaScript compares strings. */
export function listCanonicalMembers(object: object): [name: string, member: string][] {
  const members: [string, string][] = []
  for (const [name, value] of Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))
    if (value !== undefined) members.push([name, `${JSON.stringify(name)}:${toCanonicalJson(value)}`])
  return members
}

/** Joins members, already in canonical order, to an object. */
export function joinMembers(members: readonly string[]): string {
  return `{${members.join(',')}}`
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
