import { buildSpecSchema } from '../../src/spec/schema.ts'
import {
  type CampaignLocation,
  listPlannedFeatures,
  listPlannedKeyPaths,
} from '../../src/spec/planned-features.ts'
import type { KeySchema } from './spec-keys.ts'

/** Sections that are refused as soon as they are there, each with the least that makes it one. */
const SECTIONS: Readonly<Record<string, unknown>> = {
  'measurement.isolation.container': { image: 'x' },
  'search.controller': {},
  artifacts: [{ name: 'a', path: 'a' }],
  epochs: {},
}

/** What of a key would be refused, as the code that refuses it says: nobody has to remember to write it here. */
export function unbuilt(path: string, schema: KeySchema): string[] {
  if (Object.hasOwn(SECTIONS, path)) return refuses(path, SECTIONS[path]) ? ['*Not built yet.*'] : []
  const values = namedValues(schema)
  const refused = values.filter(value => refuses(path, value))
  const here = refused.filter(value => !refuses(path, value, 'local'))
  const nowhere = refused.filter(value => !here.includes(value))
  const told = [
    ...(nowhere.length > 0 ? [`*Not built yet:* ${quoted(nowhere)}.`] : []),
    ...(here.length > 0 ? [`*Not on GitHub yet:* ${quoted(here)}.`] : []),
  ]
  if (told.length > 0) return told
  if (listPlannedKeyPaths('github').includes(path)) return ['*Not built yet: only the default is taken.*']
  return listPlannedKeyPaths('local').includes(path)
    ? ['*On GitHub; elsewhere only the default is taken.*']
    : []
}

function namedValues({ enum: values = [], const: only, anyOf = [] }: KeySchema): string[] {
  const own = [...values, only].filter(value => typeof value === 'string')
  return [...new Set([...own, ...anyOf.flatMap(namedValues)])]
}

function quoted(values: readonly string[]): string {
  return values.map(value => `\`${value}\``).join(' ')
}

function refuses(path: string, value: unknown, where: CampaignLocation = 'github'): boolean {
  const given = path === 'propose[].use' ? { propose: [entryOf(value)] } : nested(path.split('.'), value)
  if (path.includes('[]') && path !== 'propose[].use' && path !== 'propose[].preset') return false
  const asked = path === 'propose[].preset' ? { propose: [{ use: 'command', preset: value }] } : given
  const parsed = buildSpecSchema('winnow').safeParse({ ...LEAST, ...asked, ...kept(asked) })
  if (!parsed.success) return false
  return (
    listPlannedFeatures({ ...parsed.data, rules: 'winnow', name: 'x', description: 'x' }, where).length > 0
  )
}

const LEAST = { winnow: 1, measurement: { command: 'x' }, scope: { mutable: ['src/'] } }

/** A section that is asked about keeps the keys that it must have. */
function kept(asked: Record<string, unknown>): Record<string, unknown> {
  const { measurement } = asked
  return typeof measurement === 'object' ? { measurement: { ...LEAST.measurement, ...measurement } } : {}
}

function nested([name = '', ...rest]: readonly string[], value: unknown): Record<string, unknown> {
  return { [name]: rest.length === 0 ? value : nested(rest, value) }
}

function entryOf(use: unknown): Record<string, unknown> {
  const needed: Record<string, Record<string, unknown>> = {
    patch: { dir: 'ideas' },
    command: { command: 'x' },
    dispatch: { workflow: 'x' },
  }
  return { use, ...needed[String(use)] }
}
