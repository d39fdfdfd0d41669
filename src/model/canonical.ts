import { createHash } from 'node:crypto'

/** Any value JSON can hold. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined }

/** RFC 8785: one spelling for every value, so that equal values have equal hashes. */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value)
    case 'number':
      if (Number.isFinite(value)) return JSON.stringify(value)
      throw new TypeError(`not representable in JSON: ${value}`)
    case 'object':
      return Array.isArray(value) ? canonicalArray(value) : value === null ? 'null' : canonicalObject(value)
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
    default:
      throw new TypeError(`not representable in JSON: ${typeof value}`)
  }
}

function canonicalArray(items: readonly unknown[]): string {
  return `[${items.map(canonicalJson).join(',')}]`
}

function canonicalObject(object: object): string {
  return joined(canonicalMembers(object).map(([, member]) => member))
}

/** Every member as it stands in the text of its object, beside its name, in order. */
export function canonicalMembers(object: object): [name: string, member: string][] {
  const members: [string, string][] = []
  for (const [name, value] of inOrder(Object.entries(object)))
    if (value !== undefined) members.push([name, `${JSON.stringify(name)}:${canonicalJson(value)}`])
  return members
}

/** The object of which these are the members, in order. */
export function joined(members: readonly string[]): string {
  return `{${members.join(',')}}`
}

/** JavaScript compares strings by UTF-16 code units, as the RFC asks. What was canonical is in order already. */
function inOrder(entries: [string, unknown][]): [string, unknown][] {
  const sorted = entries.every((entry, at) => at === 0 || byKey(entries[at - 1] ?? entry, entry) < 0)
  return sorted ? entries : entries.sort(byKey)
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
