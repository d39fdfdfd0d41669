import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { completed, unrelated, withoutEchoes } from './after-errors.ts'
import { readDocument, type SourceDocument } from './document.ts'
import { findingsOf } from './issue.ts'
import { knownKeys } from './known-keys.ts'
import { normalised } from './normalise.ts'
import { notesOf, READ_AS_CE } from './notes.ts'
import {
  isMapping,
  mistypedVersionKey,
  type Raw,
  withDefaultStability,
  withoutEmptySections,
  withPrimaryObjective,
} from './prepare.ts'
import { type Finding, foundText, SpecErrors } from './problem.ts'
import { brokenRules } from './rules.ts'
import type { RuleContext } from './rules/rule.ts'
import { KEBAB, KEBAB_TEXT, type Rules, type Spec, specSchema, type Surroundings } from './schema.ts'

export type ParseOptions = {
  /** As people should read it in messages; its name is the spec's when the spec has none. */
  file: string
  /** A judge without a cost cap is allowed, because a person said so. */
  allowUncapped?: boolean
} & Partial<Surroundings>

export type ParsedSpecFile = { spec: Spec; sha256: string; notes: string[] }

type Prepared = { raw: Raw; rules: Rules; findings: Finding[]; schema: ReturnType<typeof specSchema> }

/** `winnow: 1` selects winnow's rules, its absence ce's; nothing else is a spec we know. */
function chooseRules(raw: Raw): { rules: Rules; findings: Finding[] } {
  if (mistypedVersionKey(raw) !== undefined) return { rules: 'winnow', findings: [] }
  if (!Object.hasOwn(raw, 'winnow')) return { rules: 'ce', findings: [] }
  if (raw['winnow'] === 1) return { rules: 'winnow', findings: [] }
  const found = foundText(raw['winnow'])
  const fix = 'write winnow: 1; it is the only version this release reads'
  return { rules: 'winnow', findings: [{ path: ['winnow'], found, expected: '1', fix }] }
}

function prepare(value: Raw, options: ParseOptions): Prepared {
  const { rules, findings } = chooseRules(value)
  const { host = 'local', privateRepository = false } = options
  const schema = specSchema(rules, { host, privateRepository })
  const versioned = rules === 'winnow' ? { ...value, winnow: 1 } : value
  const whole = withPrimaryObjective(withoutEmptySections(versioned, schema))
  const raw = rules === 'ce' ? withDefaultStability(whole) : whole
  return { raw, rules, findings, schema }
}

function nameOf(spec: { name?: string | undefined }, file: string): { name: string; findings: Finding[] } {
  if (spec.name !== undefined) return { name: spec.name, findings: [] }
  const name = basename(file).replace(/\.ya?ml$/, '')
  if (KEBAB.test(name)) return { name, findings: [] }
  const found = `the file name ${foundText(name)}`
  return {
    name,
    findings: [{ path: ['name'], found, expected: KEBAB_TEXT, fix: 'rename the file, or add name' }],
  }
}

function refuse(source: SourceDocument, findings: readonly Finding[], rules: Rules | null = null): never {
  const problems = findings
    .map(finding => source.problem(finding))
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
  throw new SpecErrors(problems, undefined, rules === 'ce' ? READ_AS_CE : null)
}

function contextOf(spec: RuleContext['spec'], { raw, rules }: Prepared, options: ParseOptions): RuleContext {
  return { spec, raw, rules, allowUncapped: options.allowUncapped ?? false }
}

function topMapping(source: SourceDocument): Raw {
  if (isMapping(source.value)) return source.value
  const empty = source.value === null || source.value === undefined
  const found = empty ? 'an empty file' : foundText(source.value)
  const fix = 'see `winnow init`, which writes the smallest spec that works'
  return refuse(source, [{ path: [], found, expected: 'a spec, which is a mapping', fix }])
}

const lately = new Map<string, ParsedSpecFile>()
const REMEMBERED = 16

/**
 * A spec file as the rest of winnow uses it, or everything that is wrong with it at once. A campaign asks for its
 * spec wherever a word of it is wanted: one that was read lately is not read again, and nobody may change it.
 */
export function parseSpec(text: string, options: ParseOptions): ParsedSpecFile {
  const key = JSON.stringify([text, options])
  const known = lately.get(key)
  if (known !== undefined) return known
  const parsed = deepFrozen(read(text, options))
  const [oldest] = lately.keys()
  if (lately.size >= REMEMBERED && oldest !== undefined) lately.delete(oldest)
  lately.set(key, parsed)
  return parsed
}

function deepFrozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.values(value).forEach(deepFrozen)
  return Object.freeze(value)
}

function read(text: string, options: ParseOptions): ParsedSpecFile {
  const source = readDocument(text, options.file)
  const prepared = prepare(topMapping(source), options)
  const result = prepared.schema.safeParse(prepared.raw)
  if (!result.success) {
    const context = { raw: prepared.raw, known: knownKeys(prepared.rules) }
    const issues = result.error.issues.flatMap(issue => findingsOf(issue, context))
    const found = withoutEchoes([...prepared.findings, ...issues])
    const rest = prepared.schema.safeParse(completed(prepared.raw, found))
    const broken = rest.success ? brokenRules(contextOf(rest.data, prepared, options)) : []
    return refuse(source, [...found, ...unrelated(broken, found)], prepared.rules)
  }
  const context = contextOf(result.data, prepared, options)
  const { name, findings } = nameOf(result.data, options.file)
  const broken = [...prepared.findings, ...findings, ...brokenRules(context)]
  if (broken.length > 0) return refuse(source, broken, prepared.rules)
  const sha256 = createHash('sha256').update(text, 'utf8').digest('hex')
  return { spec: normalised(context, name), sha256, notes: notesOf(context) }
}
