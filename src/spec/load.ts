import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { UserError } from '../errors.ts'
import {
  describeFoundValue,
  formatPath,
  listKnownKeys,
  SpecErrors,
  type SpecFinding,
  type SpecPath,
  toFindings,
} from './errors.ts'
import { listNotes, READ_AS_CE } from './notes.ts'
import {
  findMistypedVersionKey,
  getGivenValue,
  isMapping,
  type Raw,
  type RuleContext,
  removeEmptySections,
  withDefaultStability,
  withPrimaryObjective,
} from './rule-context.ts'
import {
  buildSpecSchema,
  KEBAB,
  KEBAB_TEXT,
  type ParsedSpec,
  type Spec,
  type SpecEnvironment,
  type SpecRules,
} from './schema.ts'
import { isPercent } from './schema-values.ts'
import { countSampleItems } from './spec-facts.ts'
import { checkRules } from './validate.ts'
import { readDocument, type SourceDocument } from './yaml-document.ts'

export type ParseOptions = {
  /** The path as messages show it. Its file name is the name of a spec that has none. */
  file: string
} & Partial<SpecEnvironment>

export type ParsedSpecFile = { spec: Spec; sha256: string; notes: string[] }

const recentSpecs = new Map<string, ParsedSpecFile>()
const RECENT_SPECS_KEPT = 16

/** Throws all problems at once. Caches recent results, frozen: a campaign asks for its spec many times. */
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

/** Returns null for a recorded text that is not a valid spec: the ledger may contain anything. */
export function readSpec(yaml: string, options: ParseOptions): ParsedSpecFile | null {
  try {
    return parseSpec(yaml, options)
  } catch (error) {
    if (error instanceof UserError) return null
    throw error
  }
}

// The spec of a campaign

/** The fields of a campaign that the defaults of its spec depend on. */
interface SpecContext {
  spec_path: string
  host: SpecEnvironment['host'] | null
  private_repository: boolean
}

export interface CampaignSpecText extends SpecContext {
  spec_yaml: string
}

/** Options for every spec text of a campaign, so that its defaults match the place where it runs. */
export function getParseOptions({
  spec_path: file,
  host,
  private_repository: privateRepository,
}: SpecContext) {
  return { file, host: host ?? 'local', privateRepository } satisfies ParseOptions
}

/** Reads the spec in force; null when the recorded text is not a valid spec. */
export function readCampaignSpec(campaign: CampaignSpecText): Spec | null {
  return readSpec(campaign.spec_yaml, getParseOptions(campaign))?.spec ?? null
}

/** Reads the spec in force of a campaign that this process runs; throws when it is not valid. */
export function getCampaignSpec(campaign: CampaignSpecText): Spec {
  return parseSpec(campaign.spec_yaml, getParseOptions(campaign)).spec
}

// Parsing

type PreparedSpec = {
  raw: Raw
  rules: SpecRules
  findings: SpecFinding[]
  schema: ReturnType<typeof buildSpecSchema>
}

function parseFresh(text: string, options: ParseOptions): ParsedSpecFile {
  const source = readDocument(text, options.file)
  const prepared = prepareSpec(readTopMapping(source), options)
  const result = prepared.schema.safeParse(prepared.raw)
  if (!result.success) {
    const context = { raw: prepared.raw, known: listKnownKeys(prepared.rules) }
    const issues = result.error.issues.flatMap(issue => toFindings(issue, context))
    const found = removeFollowOnFindings([...prepared.findings, ...issues])
    const completed = prepared.schema.safeParse(completeRefusedSpec(prepared.raw, found))
    const ruleFindings = completed.success ? checkRules(buildRuleContext(completed.data, prepared)) : []
    return refuseSpec(source, [...found, ...removeRelatedFindings(ruleFindings, found)], prepared.rules)
  }
  const context = buildRuleContext(result.data, prepared)
  const { name, findings } = findSpecName(result.data, options.file)
  const ruleFindings = [...prepared.findings, ...findings, ...checkRules(context)]
  if (ruleFindings.length > 0) return refuseSpec(source, ruleFindings, prepared.rules)
  const sha256 = createHash('sha256').update(text, 'utf8').digest('hex')
  return { spec: normaliseSpec(context, name), sha256, notes: listNotes(context) }
}

function readTopMapping(source: SourceDocument): Raw {
  if (isMapping(source.value)) return source.value
  const empty = source.value === null || source.value === undefined
  const found = empty ? 'an empty file' : describeFoundValue(source.value)
  const fix = 'see `winnow init`, which writes the smallest spec that works'
  return refuseSpec(source, [{ path: [], found, expected: 'a spec, which is a mapping', fix }])
}

function prepareSpec(value: Raw, options: ParseOptions): PreparedSpec {
  const { rules, findings } = chooseRules(value)
  const { host = 'local', privateRepository = false } = options
  const schema = buildSpecSchema(rules, { host, privateRepository })
  const versioned = rules === 'winnow' ? { ...value, winnow: 1 } : value
  const complete = withPrimaryObjective(removeEmptySections(versioned, schema))
  const raw = rules === 'ce' ? withDefaultStability(complete) : complete
  return { raw, rules, findings, schema }
}

/** Without the key `winnow` the file is read as a ce-optimize spec. Only version 1 is known. */
function chooseRules(raw: Raw): { rules: SpecRules; findings: SpecFinding[] } {
  if (findMistypedVersionKey(raw) !== undefined) return { rules: 'winnow', findings: [] }
  if (!Object.hasOwn(raw, 'winnow')) return { rules: 'ce', findings: [] }
  if (raw['winnow'] === 1) return { rules: 'winnow', findings: [] }
  const found = describeFoundValue(raw['winnow'])
  const fix = 'write winnow: 1, the only version that this release reads'
  return { rules: 'winnow', findings: [{ path: ['winnow'], found, expected: '1', fix }] }
}

function buildRuleContext(spec: RuleContext['spec'], { raw, rules }: PreparedSpec): RuleContext {
  return { spec, raw, rules }
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

function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.values(value).forEach(freezeDeep)
  return Object.freeze(value)
}

// Normalisation: one key for each setting, independent of the synonym in the file

function normaliseSpec(context: RuleContext, name: string): Spec {
  const { winnow: _rules, constraints, ...parsed } = context.spec
  const known = { ...parsed, evidence: normaliseEvidence(context) }
  const spec = { ...known, ...getJudgedSettings(known), ...getSuiteSettings(known) }
  const serial = spec.parallel.exclusive_resources.length > 0
  return {
    ...spec,
    rules: context.rules,
    name,
    description: spec.description ?? name,
    metric: normaliseMetric(spec.metric),
    measurement: normaliseMeasurement(spec.measurement),
    stopping: normaliseStopping(context),
    advice: [...spec.advice, ...constraints],
    execution: serial ? { ...spec.execution, mode: 'serial' } : spec.execution,
  }
}

/** A percentage is a share of the base, so it implies the log scale. */
function normaliseEvidence({ spec: { evidence }, raw }: RuleContext): Spec['evidence'] {
  const isShare = ['min_effect', 'null_effect'].some(key => isPercent(getGivenValue(raw, ['evidence', key])))
  return isShare && evidence.scale === 'auto' ? { ...evidence, scale: 'log' } : evidence
}

type ComparedSections = Pick<ParsedSpec, 'metric' | 'evidence' | 'measurement'>

/** The judge section alone configures a judged metric: pairs of items, compared by differences of scores. */
function getJudgedSettings({ metric: { primary, judge }, evidence, measurement }: ComparedSections) {
  if (primary.type !== 'judge' || judge === null || measurement.stability !== null) return null
  return {
    measurement: { ...measurement, mode: 'paired' as const },
    evidence: {
      ...evidence,
      scale: 'linear' as const,
      min_effect: judge.minimum_improvement,
      pairs_per_job: countSampleItems(judge),
    },
  }
}

/** The smallest gain of a loss, which lies between 0 and 1, unless the spec sets one. */
const LOSS_MIN_EFFECT = 0.02

/**
 * The suite alone configures how it is compared. Its tasks are pairs, and one job is one pass. Where it is advisory,
 * both sides run one pass, and the difference of their means decides.
 */
function getSuiteSettings({ metric: { primary }, evidence, measurement }: ComparedSections) {
  const { suite } = measurement
  if (suite === null) return null
  const runs = suite.tasks.length * suite.seeds
  const isLoss = primary.type === 'loss'
  const min_effect = evidence.min_effect ?? (isLoss ? LOSS_MIN_EFFECT : null)
  if (!suite.advisory) {
    const scale = isLoss ? ('linear' as const) : evidence.scale
    return {
      measurement: { ...measurement, mode: 'paired' as const },
      evidence: { ...evidence, scale, min_effect, pairs_per_job: runs },
    }
  }
  // Elsewhere it has the units of the metric.
  const isShare = min_effect !== null && !isLoss && evidence.scale !== 'linear'
  const stability = {
    mode: 'repeat' as const,
    repeat_count: runs,
    aggregation: 'mean' as const,
    noise_threshold: isShare ? 0 : (min_effect ?? 0),
    comparison: isShare
      ? { method: 'relative' as const, relative_threshold: min_effect }
      : { method: 'absolute' as const, relative_threshold: 0 },
    ladder: null,
  }
  return { measurement: { ...measurement, baseline: 'fresh' as const, stability } }
}

function normaliseMetric(parsed: ParsedSpec['metric']): Spec['metric'] {
  const { baseline: _ignored, ...primary } = parsed.primary
  const objectives = parsed.objectives.flatMap(objective => {
    if (objective.name !== primary.name) return [objective]
    if (objective.role === 'secondary') return []
    const { direction, target } = primary
    return [{ ...objective, role: 'required' as const, direction, target }]
  })
  return { ...parsed, primary, objectives }
}

/** ce compares aggregates of whole executions. */
function normaliseMeasurement(parsed: ParsedSpec['measurement']): Spec['measurement'] {
  const { output_format: _json, per_case, ...kept } = parsed
  return per_case === true && kept.stability === null ? { ...kept, per_case } : kept
}

/** ce-optimize counts active hours apart from wall-clock hours; winnow has wall-clock hours only. */
function normaliseStopping({ spec, raw }: RuleContext): Spec['stopping'] {
  const { plateau_iterations, max_wall_hours, ...kept } = spec.stopping
  const hasMaxHours = getGivenValue(raw, 'stopping.max_hours') !== undefined
  const caps = [hasMaxHours ? kept.max_hours : null, max_wall_hours ?? null].filter(cap => cap !== null)
  const hasWallHours = (max_wall_hours ?? null) !== null
  return {
    ...kept,
    plateau: plateau_iterations ?? kept.plateau,
    max_hours: hasWallHours ? Math.min(...caps) : kept.max_hours,
  }
}

// Refused specs: the rules also check the accepted parts, so that one run reports all mistakes

/** Replaces required keys that are missing, so that the rules that span several keys run in the same pass. */
const PLACEHOLDER_SPEC: Raw = {
  description: 'x',
  metric: { primary: { type: 'hard', name: 'x', direction: 'minimize' } },
  measurement: { command: 'x' },
  scope: { mutable: ['x'], immutable: ['y'] },
}

function completeRefusedSpec(raw: Raw, found: readonly SpecFinding[]): unknown {
  const paths = found.map(({ path }) => path)
  const kept = removeRefusedParts(
    raw,
    paths.filter(path => formatPath(path) !== 'winnow'),
  )
  return mergeOverDefaults(PLACEHOLDER_SPEC, kept)
}

/** Removes a list with a refused entry completely: the indices of its other entries must not shift. */
function removeRefusedParts(value: unknown, paths: readonly SpecPath[]): unknown {
  if (!isMapping(value)) return value
  const kept: Raw = {}
  for (const [key, part] of Object.entries(value)) {
    const below = paths.filter(path => path[0] === key).map(path => path.slice(1))
    if (below.some(path => path.length === 0 || typeof path[0] === 'number')) continue
    kept[key] = below.length === 0 ? part : removeRefusedParts(part, below)
  }
  return kept
}

function mergeOverDefaults(placeholder: unknown, value: unknown): unknown {
  if (!isMapping(placeholder) || !isMapping(value)) return value ?? placeholder
  const merged: Raw = { ...value }
  for (const [key, part] of Object.entries(placeholder)) merged[key] = mergeOverDefaults(part, value[key])
  return merged
}

/** Drops follow-on findings: after the typo `comand`, the missing `command` is not a second mistake. */
function removeFollowOnFindings(found: readonly SpecFinding[]): SpecFinding[] {
  const meant = new Set(found.flatMap(listMeantPaths))
  return found.filter(({ path, found: what }) => what !== 'nothing' || !meant.has(formatPath(path)))
}

/** Drops findings of rules at, above or below a path that is already refused: they only hide the real mistake. */
function removeRelatedFindings(
  findings: readonly SpecFinding[],
  reported: readonly SpecFinding[],
): SpecFinding[] {
  const paths = reported.flatMap(finding => [formatPath(finding.path), ...listMeantPaths(finding)])
  return findings.filter(finding => {
    const path = formatPath(finding.path)
    return !paths.some(other => path.startsWith(other) || other.startsWith(path))
  })
}

/** Lists the paths that the mistyped key was probably meant for. */
function listMeantPaths({ path, didYouMean }: SpecFinding): string[] {
  return didYouMean === undefined ? [] : [didYouMean, formatPath([...path.slice(0, -1), didYouMean])]
}
