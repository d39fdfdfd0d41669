import type { z } from 'zod'
import type { KnownKeys } from './known-keys.ts'
import { type Finding, foundText, pathText, type SpecPath, writeInstead } from './problem.ts'
import { isPercent } from './sections/scalar.ts'
import { nearest } from './suggest.ts'
import { unknownKey } from './unknown-key.ts'

type Issue = z.core.$ZodIssue

export type IssueContext = { raw: unknown; known: KnownKeys }

export function valueAt(raw: unknown, path: SpecPath): unknown {
  let value = raw
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = new Map<string, unknown>(Object.entries(value)).get(String(part))
  }
  return value
}

const NAMES: Partial<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
  never: 'nothing',
}

export function orList(values: readonly unknown[]): string {
  const written = values.map(String)
  const last = written.pop() ?? ''
  return written.length === 0 ? last : `${written.join(', ')} or ${last}`
}

function bound(
  issue: { origin: string; inclusive?: boolean },
  limit: unknown,
  side: 'least' | 'most',
): string {
  const strict = side === 'least' ? 'greater than' : 'less than'
  if (issue.origin === 'array') return `at ${side} ${String(limit)} ${limit === 1 ? 'entry' : 'entries'}`
  if (issue.origin === 'string') return `at ${side} ${String(limit)} characters`
  return issue.inclusive === false
    ? `a number ${strict} ${String(limit)}`
    : `a number, at ${side} ${String(limit)}`
}

/** What zod says of a union that does not say itself what it takes. */
const UNNAMED = /^Invalid (?:input|discriminator)/

function expectedBy(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return NAMES[issue.expected] ?? issue.expected
    case 'invalid_value':
      return orList(issue.values)
    case 'too_small':
      return bound(issue, issue.minimum, 'least')
    case 'too_big':
      return bound(issue, issue.maximum, 'most')
    case 'invalid_union':
      return UNNAMED.test(issue.message) ? orList([...new Set(alternatives(issue))]) : issue.message
    case 'invalid_format':
    case 'custom':
    case 'invalid_key':
    case 'invalid_element':
    case 'not_multiple_of':
    case 'unrecognized_keys':
      return issue.message
    default:
      return issue satisfies never
  }
}

function alternatives(issue: z.core.$ZodIssueInvalidUnion): unknown[] {
  if (issue.errors.length === 0) return choicesOf(issue)
  const here = issue.errors.flat().filter(isHere)
  return here.flatMap(one => (one.code === 'invalid_value' ? one.values : [expectedBy(one)]))
}

function isHere(issue: Issue): boolean {
  return issue.path.length === 0
}

function pathOf(issue: Issue): SpecPath {
  return issue.path.map(part => (typeof part === 'symbol' ? String(part) : part))
}

/** In a union only the branches of the value's own kind say anything useful. */
function branchOf(issue: z.core.$ZodIssueInvalidUnion, value: unknown): readonly Issue[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const fitting = issue.errors.filter(branch =>
    branch.every(one => !isHere(one) || one.code === 'unrecognized_keys'),
  )
  return fitting.toSorted((left, right) => left.length - right.length)[0]
}

function fixFor(path: SpecPath, value: unknown, expected: string): string {
  if (path[0] === 'constraints' && path.length === 2 && typeof value === 'object' && value !== null) {
    return 'move {metric, op, value} to metric.constraints; constraints are sentences for proposers'
  }
  if (value === undefined) return `add ${pathText(path)}`
  if (expected === 'text' && (typeof value === 'number' || typeof value === 'boolean')) {
    return `put it in quotes: "${value}"`
  }
  if (isPercent(value)) return 'write a plain number: this key takes no percentage'
  if (expected === 'a list' && typeof value === 'string') return `write [${value}]`
  return writeInstead(expected)
}

/** A wrong choice as the nearest right one. */
function choice(value: unknown, choices: readonly unknown[]): { didYouMean?: string; fix?: string } {
  const near = typeof value === 'string' ? nearest(value, choices.map(String)) : undefined
  return near === undefined ? {} : { didYouMean: near, fix: `did you mean "${near}"?` }
}

function choicesOf(issue: Issue): unknown[] {
  if (issue.code === 'invalid_value') return issue.values
  if (issue.code !== 'invalid_union') return []
  if (issue.errors.length === 0) return 'options' in issue ? issue.options : []
  return issue.errors.flat().filter(isHere).flatMap(choicesOf)
}

/** What zod refused, in the words of the file: one finding for each thing to change. */
export function findingsOf(issue: Issue, context: IssueContext, base: SpecPath = []): Finding[] {
  const path = [...base, ...pathOf(issue)]
  const value = valueAt(context.raw, path)
  if (issue.code === 'unrecognized_keys') return issue.keys.map(key => unknownKey(path, key, context.known))
  if (issue.code === 'invalid_union') {
    const branch = branchOf(issue, value)
    if (branch !== undefined) return branch.flatMap(inner => findingsOf(inner, context, path))
  }
  const choices = choicesOf(issue)
  const expected = expectedBy(issue)
  return [
    {
      path,
      found: foundText(value),
      expected,
      fix: fixFor(path, value, expected),
      ...choice(value, choices),
    },
  ]
}
