import { z } from 'zod'
import { type SpecRules, buildSpecSchema } from './schema.ts'

/** Every key of the spec by the path of its mapping (list indices left out), read off the schema itself. */
export type KnownKeys = ReadonlyMap<string, ReadonlySet<string>>

type ZodSchema = z.core.$ZodType

/** What stands inside defaults and optionality. */
export function unwrapSchema(schema: ZodSchema): ZodSchema {
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

function collectKeys(schema: ZodSchema, path: string, known: Map<string, Set<string>>): void {
  const inner = unwrapSchema(schema)
  if (inner instanceof z.ZodArray) return collectKeys(inner.element, path, known)
  if (inner instanceof z.ZodUnion) {
    for (const option of inner.options) collectKeys(option, path, known)
    return
  }
  if (!(inner instanceof z.ZodObject)) return
  const keys = known.get(path) ?? new Set<string>()
  known.set(path, keys)
  const shape: Record<string, ZodSchema> = inner.shape
  for (const [key, value] of Object.entries(shape)) {
    keys.add(key)
    collectKeys(value, path === '' ? key : `${path}.${key}`, known)
  }
}

const knownKeysCache = new Map<SpecRules, KnownKeys>()

export function listKnownKeys(rules: SpecRules): KnownKeys {
  const cached = knownKeysCache.get(rules)
  if (cached !== undefined) return cached
  const known = new Map<string, Set<string>>()
  collectKeys(buildSpecSchema(rules), '', known)
  knownKeysCache.set(rules, known)
  return known
}

/** Mappings that have this key, the shallowest first. */
export function findKeyHomes(key: string, known: KnownKeys): string[] {
  const homes = [...known].filter(([, keys]) => keys.has(key)).map(([path]) => path)
  return homes.toSorted((left, right) => getDepth(left) - getDepth(right))
}

function getDepth(path: string): number {
  return path === '' ? 0 : path.split('.').length
}
