import type { z } from 'zod'
import type { KnownKeys } from './known-keys.ts'
import { type SpecFinding, describeFoundValue, formatPath, type SpecPath, writeInstead } from './problem.ts'
import { isPercent } from './sections/scalar.ts'
import { findNearestWord } from './suggest.ts'
import { describeUnknownKey } from './unknown-key.ts'

type ZodIssue = z.core.$ZodIssue

export type IssueContext = { raw: unknown; known: KnownKeys }

export function getValueByPath(raw: unknown, path: SpecPath): unknown {
  let value = raw
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = new Map<string, unknown>(Object.entries(value)).get(String(part))
  }
  return value
}

const TYPE_NAMES: Partial<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
  never: 'nothing',
}

export function formatAlternatives(values: readonly unknown[]): string {
  const written = values.map(String)
  const last = written.pop() ?? ''
  return written.length === 0 ? last : `${written.join(', ')} or ${last}`
}

function describeBound(
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
const UNNAMED_ERROR = /^Invalid (?:input|discriminator)/

function describeExpected(issue: ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPE_NAMES[issue.expected] ?? issue.expected
    case 'invalid_value':
      return formatAlternatives(issue.values)
    case 'too_small':
      return describeBound(issue, issue.minimum, 'least')
    case 'too_big':
      return describeBound(issue, issue.maximum, 'most')
    case 'invalid_union':
      return UNNAMED_ERROR.test(issue.message)
        ? formatAlternatives([...new Set(listAlternatives(issue))])
        : issue.message
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

function listAlternatives(issue: z.core.$ZodIssueInvalidUnion): unknown[] {
  if (issue.errors.length === 0) return listChoices(issue)
  const here = issue.errors.flat().filter(hasEmptyPath)
  return here.flatMap(one => (one.code === 'invalid_value' ? one.values : [describeExpected(one)]))
}

function hasEmptyPath(issue: ZodIssue): boolean {
  return issue.path.length === 0
}

function getIssuePath(issue: ZodIssue): SpecPath {
  return issue.path.map(part => (typeof part === 'symbol' ? String(part) : part))
}

/** In a union only the branches of the value's own kind say anything useful. */
function selectUnionBranch(
  issue: z.core.$ZodIssueInvalidUnion,
  value: unknown,
): readonly ZodIssue[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const fitting = issue.errors.filter(branch =>
    branch.every(one => !hasEmptyPath(one) || one.code === 'unrecognized_keys'),
  )
  return fitting.toSorted((left, right) => left.length - right.length)[0]
}

function suggestFix(path: SpecPath, value: unknown, expected: string): string {
  if (path[0] === 'constraints' && path.length === 2 && typeof value === 'object' && value !== null) {
    return 'move {metric, op, value} to metric.constraints; constraints are sentences for proposers'
  }
  if (value === undefined) return `add ${formatPath(path)}`
  if (expected === 'text' && (typeof value === 'number' || typeof value === 'boolean')) {
    return `put it in quotes: "${value}"`
  }
  if (isPercent(value)) return 'write a plain number: this key takes no percentage'
  if (expected === 'a list' && typeof value === 'string') return `write [${value}]`
  return writeInstead(expected)
}

/** A wrong choice as the nearest right one. */
function suggestChoice(value: unknown, choices: readonly unknown[]): { didYouMean?: string; fix?: string } {
  const near = typeof value === 'string' ? findNearestWord(value, choices.map(String)) : undefined
  return near === undefined ? {} : { didYouMean: near, fix: `did you mean "${near}"?` }
}

function listChoices(issue: ZodIssue): unknown[] {
  if (issue.code === 'invalid_value') return issue.values
  if (issue.code !== 'invalid_union') return []
  if (issue.errors.length === 0) return 'options' in issue ? issue.options : []
  return issue.errors.flat().filter(hasEmptyPath).flatMap(listChoices)
}

/** What zod refused, in the words of the file: one finding for each thing to change. */
export function toFindings(issue: ZodIssue, context: IssueContext, base: SpecPath = []): SpecFinding[] {
  const path = [...base, ...getIssuePath(issue)]
  const value = getValueByPath(context.raw, path)
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(key => describeUnknownKey(path, key, context.known))
  if (issue.code === 'invalid_union') {
    const branch = selectUnionBranch(issue, value)
    if (branch !== undefined) return branch.flatMap(inner => toFindings(inner, context, path))
  }
  const choices = listChoices(issue)
  const expected = describeExpected(issue)
  return [
    {
      path,
      found: describeFoundValue(value),
      expected,
      fix: suggestFix(path, value, expected),
      ...suggestChoice(value, choices),
    },
  ]
}
