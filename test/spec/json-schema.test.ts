import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { buildSpecJsonSchema, renderSpecJsonSchema } from '../../src/spec/json-schema.ts'
import { listKnownKeys } from '../../src/spec/errors.ts'
import { fixture, fixtureNames } from './problems-of.ts'

const committed = readFileSync(join(import.meta.dirname, '../../schema/spec.schema.json'), 'utf8')

type Json = Record<string, unknown>
const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Every property of the schema with its path, through lists and alternatives. */
function properties(schema: unknown, path: string): [string, Json][] {
  if (!isJson(schema)) return []
  const branches = [schema['items'], schema['anyOf'], schema['oneOf']]
    .flat()
    .flatMap(one => properties(one, path))
  const own = Object.entries(isJson(schema['properties']) ? schema['properties'] : {})
  return own
    .flatMap(([key, value]): [string, Json][] => {
      if (!isJson(value)) return []
      const at = path === '' ? key : `${path}.${key}`
      return [[at, value], ...properties(value, at)]
    })
    .concat(branches)
}

const half = (kind: 'winnow' | 'ce'): unknown => {
  const { definitions } = buildSpecJsonSchema()
  return isJson(definitions) ? definitions[kind] : undefined
}

describe('schema/spec.schema.json', () => {
  it('is what the zod schema generates', () => {
    expect(committed).toBe(renderSpecJsonSchema())
  })

  it.each(['winnow', 'ce'] as const)('describes every key of a %s spec', kind => {
    const described = properties(half(kind), '')
    expect(
      described.filter(([, schema]) => typeof schema['description'] !== 'string').map(([path]) => path),
    ).toEqual([])
    const known = [...listKnownKeys(kind)].flatMap(([home, keys]) =>
      [...keys].map(key => (home === '' ? key : `${home}.${key}`)),
    )
    expect(new Set(described.map(([path]) => path))).toEqual(new Set(known))
  })

  it.each(fixtureNames)('accepts %s', name => {
    const value: unknown = parse(fixture(name))
    const kind = isJson(value) && value['winnow'] === 1 ? 'winnow' : 'ce'
    const whole = Object.entries(isJson(value) ? value : {}).filter(([, part]) => part !== null)
    const structure = z.fromJSONSchema(half(kind) as z.core.JSONSchema.JSONSchema)
    const metric = isJson(value) && isJson(value['metric']) ? value['metric'] : {}
    const filled = Object.fromEntries(Object.entries(metric).filter(([, part]) => part !== null))
    const given = {
      ...Object.fromEntries(whole),
      ...(isJson(value) && 'metric' in value ? { metric: filled } : {}),
    }
    expect(structure.safeParse(given).error?.issues ?? []).toEqual([])
  })

  it('chooses the kind by the key winnow', () => {
    const chosen = Object.entries(buildSpecJsonSchema()).filter(([key]) =>
      ['if', 'then', 'else'].includes(key),
    )
    expect(chosen).toEqual([
      ['if', { required: ['winnow'] }],
      ['then', { $ref: '#/definitions/winnow' }],
      ['else', { $ref: '#/definitions/ce' }],
    ])
  })
})
