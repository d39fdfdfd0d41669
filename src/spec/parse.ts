import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { completeRefusedSpec, removeRelatedFindings, removeFollowOnFindings } from './after-errors.ts'
import { readDocument, type SourceDocument } from './document.ts'
import { toFindings } from './issue.ts'
import { listKnownKeys } from './known-keys.ts'
import { normaliseSpec } from './normalise.ts'
import { listNotes, READ_AS_CE } from './notes.ts'
import {
  isMapping,
  findMistypedVersionKey,
  type Raw,
  withDefaultStability,
  removeEmptySections,
  withPrimaryObjective,
} from './prepare.ts'
import { type SpecFinding, describeFoundValue, SpecErrors } from './problem.ts'
import { checkRules } from './rules.ts'
import type { RuleContext } from './rules/rule.ts'
import {
  KEBAB,
  KEBAB_TEXT,
  type SpecRules,
  type Spec,
  buildSpecSchema,
  type SpecEnvironment,
} from './schema.ts'

export type ParseOptions = {
  /** As people should read it in messages; its name is the spec's when the spec has none. */
  file: string
  /** A judge without a cost cap is allowed, because a person said so. */
  allowUncapped?: boolean
} & Partial<SpecEnvironment>

export type ParsedSpecFile = { spec: Spec; sha256: string; notes: string[] }

type PreparedSpec = {
  raw: Raw
  rules: SpecRules
  findings: SpecFinding[]
  schema: ReturnType<typeof buildSpecSchema>
}

/** `winnow: 1` selects winnow's rules, its absence ce's; nothing else is a spec we know. */
function chooseRules(raw: Raw): { rules: SpecRules; findings: SpecFinding[] } {
  if (findMistypedVersionKey(raw) !== undefined) return { rules: 'winnow', findings: [] }
  if (!Object.hasOwn(raw, 'winnow')) return { rules: 'ce', findings: [] }
  if (raw['winnow'] === 1) return { rules: 'winnow', findings: [] }
  const found = describeFoundValue(raw['winnow'])
  const fix = 'write winnow: 1; it is the only version this release reads'
  return { rules: 'winnow', findings: [{ path: ['winnow'], found, expected: '1', fix }] }
}

function prepareSpec(value: Raw, options: ParseOptions): PreparedSpec {
  const { rules, findings } = chooseRules(value)
  const { host = 'local', privateRepository = false } = options
  const schema = buildSpecSchema(rules, { host, privateRepository })
  const versioned = rules === 'winnow' ? { ...value, winnow: 1 } : value
  const whole = withPrimaryObjective(removeEmptySections(versioned, schema))
  const raw = rules === 'ce' ? withDefaultStability(whole) : whole
  return { raw, rules, findings, schema }
}

function findSpecName(
  spec: { name?: string | undefined },
  file: string,
): { name: string; findings: SpecFinding[] } {
  if (spec.name !== undefined) return { name: spec.name, findings: [] }
  const name = basename(file).replace(/\.ya?ml$/, '')
  if (KEBAB.test(name)) return { name, findings: [] }
  const found = `the file name ${describeFoundValue(name)}`
  return {
    name,
    findings: [{ path: ['name'], found, expected: KEBAB_TEXT, fix: 'rename the file, or add name' }],
  }
}

function refuseSpec(
  source: SourceDocument,
  findings: readonly SpecFinding[],
  rules: SpecRules | null = null,
): never {
  const problems = findings
    .map(finding => source.problem(finding))
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
  throw new SpecErrors(problems, undefined, rules === 'ce' ? READ_AS_CE : null)
}

function buildRuleContext(
  spec: RuleContext['spec'],
  { raw, rules }: PreparedSpec,
  options: ParseOptions,
): RuleContext {
  return { spec, raw, rules, allowUncapped: options.allowUncapped ?? false }
}

function readTopMapping(source: SourceDocument): Raw {
  if (isMapping(source.value)) return source.value
  const empty = source.value === null || source.value === undefined
  const found = empty ? 'an empty file' : describeFoundValue(source.value)
  const fix = 'see `winnow init`, which writes the smallest spec that works'
  return refuseSpec(source, [{ path: [], found, expected: 'a spec, which is a mapping', fix }])
}

const recentSpecs = new Map<string, ParsedSpecFile>()
const RECENT_SPECS_KEPT = 16

/**
 * A spec file as the rest of winnow uses it, or everything that is wrong with it at once. A campaign asks for its
 * spec wherever a word of it is wanted: one that was read lately is not read again, and nobody may change it.
 */
export function parseSpec(text: string, options: ParseOptions): ParsedSpecFile {
  const key = JSON.stringify([text, options])
  const known = recentSpecs.get(key)
  if (known !== undefined) return known
  const parsed = freezeDeep(parseFresh(text, options))
  const [oldest] = recentSpecs.keys()
  if (recentSpecs.size >= RECENT_SPECS_KEPT && oldest !== undefined) recentSpecs.delete(oldest)
  recentSpecs.set(key, parsed)
  return parsed
}

function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.values(value).forEach(freezeDeep)
  return Object.freeze(value)
}

function parseFresh(text: string, options: ParseOptions): ParsedSpecFile {
  const source = readDocument(text, options.file)
  const prepared = prepareSpec(readTopMapping(source), options)
  const result = prepared.schema.safeParse(prepared.raw)
  if (!result.success) {
    const context = { raw: prepared.raw, known: listKnownKeys(prepared.rules) }
    const issues = result.error.issues.flatMap(issue => toFindings(issue, context))
    const found = removeFollowOnFindings([...prepared.findings, ...issues])
    const rest = prepared.schema.safeParse(completeRefusedSpec(prepared.raw, found))
    const broken = rest.success ? checkRules(buildRuleContext(rest.data, prepared, options)) : []
    return refuseSpec(source, [...found, ...removeRelatedFindings(broken, found)], prepared.rules)
  }
  const context = buildRuleContext(result.data, prepared, options)
  const { name, findings } = findSpecName(result.data, options.file)
  const broken = [...prepared.findings, ...findings, ...checkRules(context)]
  if (broken.length > 0) return refuseSpec(source, broken, prepared.rules)
  const sha256 = createHash('sha256').update(text, 'utf8').digest('hex')
  return { spec: normaliseSpec(context, name), sha256, notes: listNotes(context) }
}
