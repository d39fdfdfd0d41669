import { z } from 'zod'
import { UserError } from '../errors.ts'
import { findContainingWord, findNearestWord } from './nearest-word.ts'
import { buildSpecSchema, type SpecRules } from './schema.ts'
import { isPercent } from './schema-values.ts'

export type Problem = {
  file: string
  line: number
  column: number
  path: string
  found: string
  expected: string
  didYouMean?: string
  fix: string
}

/** A problem without its file, line and column, which `SourceDocument.problem` adds. */
export type SpecFinding = Omit<Problem, 'file' | 'line' | 'column' | 'path'> & {
  path: SpecPath
  at?: 'key' | 'value'
}

export type SpecPath = readonly (string | number)[]

export const UNKNOWN_KEY = 'unknown key'

const MAX_FOUND = 60

export class SpecErrors extends UserError {
  readonly problems: readonly Problem[]
  /** A statement about the whole file that may explain all of its problems. */
  readonly note: string | null
  constructor(problems: readonly Problem[], cause?: unknown, note: string | null = null) {
    const [first] = problems
    const place =
      first === undefined
        ? {}
        : { file: first.file, line: first.line, column: first.column, path: first.path }
    super(problems.map(formatProblem).join('\n'), {
      place,
      ...(first === undefined ? {} : { fix: first.fix }),
      ...(cause === undefined ? {} : { cause }),
    })
    this.problems = problems
    this.note = note
  }
}

/** Removes control characters: keys and values may contain line breaks and terminal escapes. */
export function formatProblem(problem: Problem): string {
  const where = `${problem.file}:${problem.line}:${problem.column}`
  const line = [where, problem.path, summarizeProblem(problem)].filter(part => part !== '').join('  ')
  return line.replaceAll(/\p{Cc}+/gu, ' ')
}

function summarizeProblem(problem: Problem): string {
  if (problem.found === UNKNOWN_KEY) return `${problem.found}; ${problem.fix}`
  const saysAll = problem.fix === writeInstead(problem.expected)
  const found = `found ${problem.found}, expected ${problem.expected}`
  return saysAll ? found : `${found}; ${problem.fix}`
}

/** The fix that only repeats what is expected. `summarizeProblem` recognizes it and leaves it out. */
function writeInstead(expected: string): string {
  return `write ${expected}`
}

export function formatPath(path: SpecPath): string {
  let written = ''
  for (const part of path) {
    if (typeof part === 'number') written += `[${part}]`
    else written += written === '' ? part : `.${part}`
  }
  return written
}

export function describeFoundValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(truncateValue(value))
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  return typeof value === 'object' && value !== null ? 'a mapping' : 'nothing'
}

function truncateValue(value: string): string {
  return value.length > MAX_FOUND ? `${value.slice(0, MAX_FOUND)}…` : value
}

// Issues of zod

type ZodIssue = z.core.$ZodIssue

type IssueContext = { raw: unknown; known: KnownKeys }

/** Translates a zod issue into one finding for each thing to change. */
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

function getIssuePath(issue: ZodIssue): SpecPath {
  return issue.path.map(part => (typeof part === 'symbol' ? String(part) : part))
}

function getValueByPath(raw: unknown, path: SpecPath): unknown {
  let value = raw
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = new Map<string, unknown>(Object.entries(value)).get(String(part))
  }
  return value
}

function hasEmptyPath(issue: ZodIssue): boolean {
  return issue.path.length === 0
}

/** Selects the union branch that fits the kind of the value. The errors of the other branches are noise. */
function selectUnionBranch(
  issue: z.core.$ZodIssueInvalidUnion,
  value: unknown,
): readonly ZodIssue[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const matching = issue.errors.filter(branch =>
    branch.every(one => !hasEmptyPath(one) || one.code === 'unrecognized_keys'),
  )
  return matching.toSorted((left, right) => left.length - right.length)[0]
}

function listChoices(issue: ZodIssue): unknown[] {
  if (issue.code === 'invalid_value') return issue.values
  if (issue.code !== 'invalid_union') return []
  if (issue.errors.length === 0) return 'options' in issue ? issue.options : []
  return issue.errors.flat().filter(hasEmptyPath).flatMap(listChoices)
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

/** zod's default message of a union that does not state itself what it accepts. */
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

function listAlternatives(issue: z.core.$ZodIssueInvalidUnion): unknown[] {
  if (issue.errors.length === 0) return listChoices(issue)
  const ownIssues = issue.errors.flat().filter(hasEmptyPath)
  return ownIssues.flatMap(one => (one.code === 'invalid_value' ? one.values : [describeExpected(one)]))
}

function formatAlternatives(values: readonly unknown[]): string {
  const written = values.map(String)
  const last = written.pop() ?? ''
  return written.length === 0 ? last : `${written.join(', ')} or ${last}`
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

function suggestChoice(value: unknown, choices: readonly unknown[]): { didYouMean?: string; fix?: string } {
  const near = typeof value === 'string' ? findNearestWord(value, choices.map(String)) : undefined
  return near === undefined ? {} : { didYouMean: near, fix: `did you mean "${near}"?` }
}

// Unknown keys

type KeyAdvice = { didYouMean?: string; fix: string }

export function describeUnknownKey(parent: SpecPath, key: string, known: KnownKeys): SpecFinding {
  const parentPath = parent.filter(part => typeof part === 'string').join('.')
  const siblings = known.get(parentPath) ?? new Set<string>()
  return {
    path: [...parent, key],
    at: 'key',
    found: UNKNOWN_KEY,
    expected: siblings.size === 0 ? 'no key' : `one of ${[...siblings].join(', ')}`,
    ...suggestKey(key, siblings, known),
  }
}

/** Tries a similar key here, the same key elsewhere, a longer key here, a similar key elsewhere. */
function suggestKey(key: string, siblings: ReadonlySet<string>, known: KnownKeys): KeyAdvice {
  const sibling = findNearestWord(key, siblings)
  if (sibling !== undefined) return suggestMeantKey(sibling)
  const homes = findKeyHomes(key, known).filter(home => known.get(home) !== siblings)
  if (homes.length > 0) return suggestKeyHome(key, homes)
  const longer = findContainingWord(key, siblings)
  if (longer !== undefined) return suggestMeantKey(longer)
  const near = findNearestWord(key, new Set([...known.values()].flatMap(keys => [...keys])))
  if (near !== undefined) {
    const advice = suggestKeyHome(near, findKeyHomes(near, known))
    return { ...advice, fix: `did you mean "${near}"? ${advice.fix}` }
  }
  return { fix: siblings.size === 0 ? 'remove it' : `known here: ${[...siblings].join(', ')}` }
}

function suggestMeantKey(key: string): KeyAdvice {
  return { didYouMean: key, fix: `did you mean "${key}"?` }
}

function suggestKeyHome(key: string, homes: readonly string[]): KeyAdvice {
  const [home = ''] = homes
  const locations = homes.slice(0, 3).map(path => (path === '' ? 'at the top level' : `under ${path}`))
  return {
    didYouMean: home === '' ? key : `${home}.${key}`,
    fix: `${key} belongs ${locations.join(' or ')}`,
  }
}

// Known keys

/** Maps the path of each mapping (without list indices) to its keys, as the schema declares them. */
type KnownKeys = ReadonlyMap<string, ReadonlySet<string>>

type ZodSchema = z.core.$ZodType

const knownKeysCache = new Map<SpecRules, KnownKeys>()

export function listKnownKeys(rules: SpecRules): KnownKeys {
  const cached = knownKeysCache.get(rules)
  if (cached !== undefined) return cached
  const known = new Map<string, Set<string>>()
  collectKeys(buildSpecSchema(rules), '', known)
  knownKeysCache.set(rules, known)
  return known
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

/** Removes default, optional and nullable wrappers. */
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

/** Lists the mappings that have this key, the shallowest first. */
export function findKeyHomes(key: string, known: KnownKeys): string[] {
  const homes = [...known].filter(([, keys]) => keys.has(key)).map(([path]) => path)
  return homes.toSorted((left, right) => getDepth(left) - getDepth(right))
}

function getDepth(path: string): number {
  return path === '' ? 0 : path.split('.').length
}
