import { z } from 'zod'
import { PERCENT } from '../../src/spec/schema-values.ts'

/** As much of a JSON Schema as the spec's own has. */
export interface KeySchema {
  description?: string | undefined
  default?: unknown
  examples?: unknown[] | undefined
  type?: string | string[] | undefined
  const?: unknown
  enum?: unknown[] | undefined
  pattern?: string | undefined
  properties?: Record<string, KeySchema> | undefined
  required?: string[] | undefined
  items?: KeySchema | undefined
  anyOf?: KeySchema[] | undefined
  oneOf?: KeySchema[] | undefined
  minimum?: number | undefined
  exclusiveMinimum?: number | undefined
  maximum?: number | undefined
}

const keySchema: z.ZodType<KeySchema> = z.lazy(() =>
  z.object({
    description: z.string().optional(),
    default: z.unknown().optional(),
    examples: z.array(z.unknown()).optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    const: z.unknown().optional(),
    enum: z.array(z.unknown()).optional(),
    pattern: z.string().optional(),
    properties: z.record(z.string(), keySchema).optional(),
    required: z.array(z.string()).optional(),
    items: keySchema.optional(),
    anyOf: z.array(keySchema).optional(),
    oneOf: z.array(keySchema).optional(),
    minimum: z.number().optional(),
    exclusiveMinimum: z.number().optional(),
    maximum: z.number().optional(),
  }),
)

const halves = z.object({ definitions: z.object({ winnow: keySchema, ce: keySchema }) })

export function halvesOf(schema: unknown): { winnow: KeySchema; ce: KeySchema } {
  return halves.parse(schema).definitions
}

/** One key with its whole path: lists are `[]`. */
export interface Key {
  path: string
  schema: KeySchema
  required: boolean
  /** An entry is one of several mappings, and this is a key of one of them. */
  choice: boolean
  /** `use: patch`: where an entry has its keys by one of them. */
  variant: string | null
}

type Entry = Pick<Key, 'variant' | 'choice'>

/** Every key below a schema, a mapping before what it holds. */
export function keysBelow(
  schema: KeySchema,
  path = '',
  entry: Entry = { variant: null, choice: false },
): Key[] {
  const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  const mappings = alternatives.filter(({ properties }) => properties !== undefined)
  const below = alternatives.flatMap(each => {
    const variant = variantOf(each, alternatives) ?? entry.variant
    return keysBelow(each, path, { variant, choice: mappings.length > 1 && variant === null })
  })
  const listed = schema.items === undefined ? [] : keysBelow(schema.items, `${path}[]`, entry)
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, value]): Key[] => {
    const at = path === '' ? name : `${path}.${name}`
    const required = schema.required?.includes(name) === true
    const { variant } = entry
    return [
      { path: at, schema: value, required, ...entry },
      ...keysBelow(value, at, { variant, choice: false }),
    ]
  })
  return [...own, ...below, ...listed]
}

function variantOf({ properties = {} }: KeySchema, alternatives: readonly KeySchema[]): string | null {
  const told = Object.entries(properties).find(([, { const: value }]) => value !== undefined)
  return alternatives.length < 2 || told === undefined ? null : `${told[0]}: ${plainText(told[1].const)}`
}

/** The values a key may have, in words. */
export function valuesText(schema: KeySchema): string {
  const { anyOf, oneOf, items, type } = schema
  const alternatives = [...(anyOf ?? []), ...(oneOf ?? [])]
  if (alternatives.length > 0) return [...new Set(alternatives.map(valuesText))].join(' or ')
  if (schema.enum !== undefined) return schema.enum.map(value => `\`${plainText(value)}\``).join(' ')
  if (schema.const !== undefined) return `\`${plainText(schema.const)}\``
  if (Array.isArray(type)) return type.map(one => valuesText({ ...schema, type: one })).join(' or ')
  if (type === 'array') return items === undefined ? 'list' : `list of ${valuesText(items)}`
  if (schema.pattern === PERCENT.source) return 'percentage'
  if (type === 'integer') return `whole number${bounds(schema)}`
  if (type === 'number') return `number${bounds(schema)}`
  return WORDS[type ?? ''] ?? 'anything'
}

const WORDS: Readonly<Record<string, string>> = {
  object: 'mapping',
  string: 'text',
  boolean: '`true` `false`',
  null: '`null`',
}

/** As it is written in YAML. */
export function plainText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function bounds({ minimum, exclusiveMinimum, maximum }: KeySchema): string {
  const parts = [
    exclusiveMinimum === undefined ? null : `above ${exclusiveMinimum}`,
    minimum === undefined ? null : `from ${minimum}`,
    maximum === undefined ? null : `to ${maximum}`,
  ].filter(part => part !== null)
  return parts.length === 0 ? '' : ` ${parts.join(' ')}`
}
