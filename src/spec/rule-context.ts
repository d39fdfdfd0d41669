import { z } from 'zod'
import { type SpecFinding, type SpecPath, unwrapSchema } from './errors.ts'
import { findNearestWord } from './nearest-word.ts'
import type { ParsedSpec, SpecRules } from './schema.ts'

/** Input of a rule that spans several keys: the values with defaults, and the raw file. */
export type RuleContext = {
  spec: ParsedSpec
  raw: unknown
  rules: SpecRules
}

export type SpecRule = (context: RuleContext) => SpecFinding[]

/** Returns the one finding as a list, as rules do. */
export function reportFinding(
  path: SpecPath | string,
  found: string,
  expected: string,
  fix: string,
  at: 'key' | 'value' = 'value',
): SpecFinding[] {
  return [{ path: splitPath(path), found, expected, fix, at }]
}

/** Reports every entry of the list that has the name of an earlier entry. */
export function reportRepeatedNames(
  list: string,
  entries: readonly { name: string }[],
  expected: string,
  fix = 'rename it',
): SpecFinding[] {
  const names = entries.map(({ name }) => name)
  return names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : reportFinding([...list.split('.'), index, 'name'], JSON.stringify(name), expected, fix),
  )
}

function splitPath(path: SpecPath | string): SpecPath {
  return typeof path === 'string' ? path.split('.') : path
}

export type Raw = Record<string, unknown>

export function isMapping(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the value that the file itself gives at a path, before any default; undefined when it gives none. */
export function getGivenValue(raw: unknown, path: SpecPath | string): unknown {
  let value = raw
  for (const part of splitPath(path)) {
    if (Array.isArray(value) && typeof part === 'number') value = value[part]
    else if (isMapping(value) && Object.hasOwn(value, part)) value = value[part]
    else return undefined
  }
  return value ?? undefined
}

/** Removes empty sections: `parallel:` with no keys below it is not a wrong value. */
export function removeEmptySections(raw: Raw, schema: z.core.$ZodType): Raw {
  const inner = unwrapSchema(schema)
  if (!(inner instanceof z.ZodObject)) return raw
  const shape: Record<string, z.core.$ZodType> = inner.shape
  const kept: Raw = {}
  for (const [key, value] of Object.entries(raw)) {
    const keySchema = shape[key]
    if (value === null && keySchema !== undefined && isOptionalSection(keySchema)) continue
    kept[key] = keySchema !== undefined && isMapping(value) ? removeEmptySections(value, keySchema) : value
  }
  return kept
}

function isOptionalSection(schema: z.core.$ZodType): boolean {
  const inner = unwrapSchema(schema)
  const section = inner instanceof z.ZodObject || inner instanceof z.ZodArray
  const acceptsNothing = z.safeParse(schema, undefined).success && !z.safeParse(schema, null).success
  return section && acceptsNothing
}

/** Copies values that the primary leaves unset from the objective of the same name. */
export function withPrimaryObjective(raw: Raw): Raw {
  const primary = getGivenValue(raw, 'metric.primary')
  const objectives = getGivenValue(raw, 'metric.objectives')
  if (!isMapping(raw['metric']) || !isMapping(primary) || !Array.isArray(objectives)) return raw
  const same = objectives.find(
    one => isMapping(one) && one['name'] === primary['name'] && one['role'] !== 'secondary',
  )
  if (!isMapping(same)) return raw
  const supplied: Raw = {}
  for (const key of ['type', 'direction', 'target']) {
    const value = same[key]
    if (primary[key] === undefined || primary[key] === null) supplied[key] = value ?? undefined
  }
  const filled = Object.entries(supplied).filter(([, value]) => value !== undefined)
  return { ...raw, metric: { ...raw['metric'], primary: { ...primary, ...Object.fromEntries(filled) } } }
}

/** A loss or an explicit mode turns ce's default comparison with a stored score off. */
export function withDefaultStability(raw: Raw): Raw {
  const measurement = raw['measurement']
  if (!isMapping(measurement) || (measurement['stability'] ?? undefined) !== undefined) return raw
  const mode = measurement['mode'] ?? 'auto'
  const isLoss = getGivenValue(raw, 'metric.primary.type') === 'loss'
  const stability = mode === 'auto' && !isLoss ? undefined : null
  return { ...raw, measurement: { ...measurement, stability } }
}

/** Recognizes `winow: 1` as a typo, so that the file is not read as a ce spec with all keys missing. */
export function findMistypedVersionKey(raw: Raw): string | undefined {
  return Object.keys(raw).find(key => raw[key] === 1 && findNearestWord(key, ['winnow']) !== undefined)
}
