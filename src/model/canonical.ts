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

/** JavaScript compares strings by UTF-16 code units, as the RFC asks. */
function canonicalObject(members: object): string {
  let text = ''
  for (const [key, member] of Object.entries(members).sort(byKey)) {
    if (member !== undefined)
      text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`
  }
  return `{${text}}`
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
