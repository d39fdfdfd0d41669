import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { type ParsedSpecFile, type ParseOptions, parseSpec } from '../../src/spec/load.ts'
import { type Problem, SpecErrors } from '../../src/spec/errors.ts'
import type { Spec } from '../../src/spec/schema.ts'

export const FIXTURES = join(import.meta.dirname, '../../fixtures/specs')
export const fixtureNames = readdirSync(FIXTURES).toSorted()

export function fixture(name: string): string {
  return readFileSync(join(FIXTURES, name), 'utf8')
}

export function parsed(text: string, options: Partial<ParseOptions> = {}): ParsedSpecFile {
  return parseSpec(text, { file: '.winnow/parse.yaml', ...options })
}

/** The problems of a text, which must be refused. */
export function problemsOf(text: string, options: Partial<ParseOptions> = {}): readonly Problem[] {
  try {
    parsed(text, options)
  } catch (error) {
    if (error instanceof SpecErrors) return error.problems
    throw error
  }
  return []
}

type Change = Record<string, unknown>

/** A valid spec with some keys replaced, by dotted path; undefined removes one. */
export function changed(name: string, changes: Change): string {
  const value: unknown = parse(fixture(name))
  for (const [path, replacement] of Object.entries(changes)) set(value, path.split('.'), replacement)
  return stringify(value)
}

function set(value: unknown, [key = '', ...rest]: string[], replacement: unknown): void {
  if (typeof value !== 'object' || value === null) throw new Error(`nothing to change at ${key}`)
  if (rest.length > 0) {
    const below: unknown = Reflect.get(value, key)
    if (typeof below !== 'object' || below === null) Reflect.set(value, key, {})
    return set(Reflect.get(value, key), rest, replacement)
  }
  if (replacement === undefined) Reflect.deleteProperty(value, key)
  else Reflect.set(value, key, replacement)
}

export function winnowSpec(changes: Change = {}): Spec {
  return parsed(changed('winnow-smallest.yaml', changes)).spec
}

export function ceSpec(changes: Change = {}): Spec {
  return parsed(changed('ce-hard.yaml', changes)).spec
}

/** `path: found` of every problem of a changed fixture. */
export function refusals(name: string, changes: Change, options: Partial<ParseOptions> = {}): string[] {
  return problemsOf(changed(name, changes), options).map(({ path, found }) => `${path}: ${found}`)
}
