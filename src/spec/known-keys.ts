import { z } from 'zod'
import { type Rules, specSchema } from './schema.ts'

/** Every key of the spec by the path of its mapping (list indices left out), read off the schema itself. */
export type KnownKeys = ReadonlyMap<string, ReadonlySet<string>>

type Schema = z.core.$ZodType

/** What stands inside defaults and optionality. */
export function bare(schema: Schema): Schema {
  let current = schema
  while (
    current instanceof z.ZodDefault ||
    current instanceof z.ZodPrefault ||
    current instanceof z.ZodNullable ||
    current instanceof z.ZodOptional
  ) {
    current = current.unwrap()
  }
  return current
}

function collect(schema: Schema, path: string, known: Map<string, Set<string>>): void {
  const inner = bare(schema)
  if (inner instanceof z.ZodArray) return collect(inner.element, path, known)
  if (inner instanceof z.ZodUnion) {
    for (const option of inner.options) collect(option, path, known)
    return
  }
  if (!(inner instanceof z.ZodObject)) return
  const keys = known.get(path) ?? new Set<string>()
  known.set(path, keys)
  const shape: Record<string, Schema> = inner.shape
  for (const [key, value] of Object.entries(shape)) {
    keys.add(key)
    collect(value, path === '' ? key : `${path}.${key}`, known)
  }
}

const cache = new Map<Rules, KnownKeys>()

export function knownKeys(rules: Rules): KnownKeys {
  const cached = cache.get(rules)
  if (cached !== undefined) return cached
  const known = new Map<string, Set<string>>()
  collect(specSchema(rules), '', known)
  cache.set(rules, known)
  return known
}

/** Mappings that have this key, the shallowest first. */
export function homesOf(key: string, known: KnownKeys): string[] {
  const homes = [...known].filter(([, keys]) => keys.has(key)).map(([path]) => path)
  return homes.toSorted((left, right) => depth(left) - depth(right))
}

function depth(path: string): number {
  return path === '' ? 0 : path.split('.').length
}
