import { UserError } from '../errors.ts'
import type { ParsedSpec, Spec } from './schema.ts'
import { COUNTED_METRICS, TIMED_METRICS } from './schema-values.ts'

// Evidence

type CalibratedScale = {
  singleMachine: boolean
  scale: 'log' | 'linear'
  deterministic: boolean
}

type ResolvedEvidence = Omit<Spec['evidence'], 'min_effect' | 'null_effect' | 'scale'> & {
  min_effect: number
  null_effect: number
  scale: 'log' | 'linear'
}

export const DEFAULT_EFFECT = 0.02

/** A value of 0 or less has no logarithm. Differences on a linear scale always work. */
function resolveScale({ evidence, metric }: Spec, { scale }: CalibratedScale): 'log' | 'linear' {
  if (evidence.scale === 'auto') return scale
  if (evidence.scale === 'linear' || scale === 'log') return evidence.scale
  throw new UserError(`evidence.scale is log, but ${metric.primary.name} has values of 0 or less`, {
    place: { path: 'evidence.scale' },
    fix: 'set evidence.scale: linear, or auto',
  })
}

/** The default of 2 % is a share. On a linear scale there is no base that it is a share of. */
function resolveMinEffect(spec: Spec, scale: 'log' | 'linear', deterministic: boolean): number {
  if (spec.evidence.min_effect !== null) return spec.evidence.min_effect
  if (deterministic) return 0
  if (scale === 'log') return DEFAULT_EFFECT
  throw new UserError(`evidence.min_effect is not set, and on a linear scale 2 % has no meaning`, {
    place: { path: 'evidence.min_effect' },
    fix: `set it to the smallest change of ${spec.metric.primary.name} worth having, in its own units, with evidence.scale: linear`,
  })
}

function resolveNullEffect(spec: Spec, min: number, singleMachine: boolean): number {
  const effect = spec.evidence.null_effect ?? min / (singleMachine ? 2 : 4)
  if (effect < min || effect === 0) return effect
  throw new UserError(`evidence.null_effect ${effect} is not below min_effect ${min}`, {
    place: { path: 'evidence.null_effect' },
    fix: 'lower null_effect, or raise min_effect',
  })
}

/** Fixes every value of the evidence section that the file leaves to calibration. */
export function resolveEvidence(spec: Spec, calibrated: CalibratedScale): ResolvedEvidence {
  const scale = resolveScale(spec, calibrated)
  const min_effect = resolveMinEffect(spec, scale, calibrated.deterministic)
  const null_effect = resolveNullEffect(spec, min_effect, calibrated.singleMachine)
  return { ...spec.evidence, scale, min_effect, null_effect }
}

const LONG_EXECUTION_SECONDS = 20

/** Warm-ups cost two executions per job, so jobs with short executions measure more pairs. */
export function resolvePairsPerJob(
  evidence: Pick<Spec['evidence'], 'pairs_per_job'>,
  executionSeconds: number,
): number {
  if (evidence.pairs_per_job !== 'auto') return evidence.pairs_per_job
  return executionSeconds < LONG_EXECUTION_SECONDS ? 8 : 4
}

// Harness

/**
 * The sections that the harness hash (invariant 4) covers, in canonical form. The holdout is left out: its orders
 * carry their own terms, and replacing it must not invalidate earlier measurements. Probes change no measurement.
 */
type HarnessSection = Pick<Spec, 'metric' | 'gates'> & {
  measurement: Omit<Spec['measurement'], 'probes' | 'models' | 'max_execution_cost_usd'>
}

export function getHarnessSection(spec: Spec): HarnessSection {
  const { measurement, metric, gates } = spec
  const { probes: _, models, max_execution_cost_usd: cap, ...measuring } = measurement
  const metered = isMetered(spec) ? { models, cap, asks: spec.models.map(({ id }) => id) } : {}
  return structuredClone({ measurement: { ...measuring, ...metered, holdout: null }, metric, gates })
}

/** The harness asks models through winnow. */
export function isMetered({ measurement }: { measurement: Pick<Spec['measurement'], 'models'> }): boolean {
  return measurement.models === 'metered'
}

// Judged metrics

type JudgeSampleSection = NonNullable<ParsedSpec['metric']['judge']>
type PrimaryTypeSection = { metric: { primary: { type: ParsedSpec['metric']['primary']['type'] } } }

/** A model scores the items that the harness prints. The harness never prints the metric itself. */
export function isJudgedMetric({ metric }: PrimaryTypeSection): boolean {
  return metric.primary.type === 'judge'
}

/** Runs of each side in a job that pairs items: one prints them, and more measure what else may decide. */
export function countJudgedRuns({ metric, policy }: Pick<ParsedSpec, 'metric' | 'policy'>): number {
  const isOtherDecisive =
    policy.tie_breakers.length > 0 || metric.objectives.some(({ role }) => role !== 'secondary')
  return isOtherDecisive && metric.judge !== null ? countSampleItems(metric.judge) : 1
}

/** Items of each side that one job scores: the sum of the strata, or sample_size where it is larger. */
export function countSampleItems({
  sample_size,
  stratification,
}: Pick<JudgeSampleSection, 'sample_size' | 'stratification'>): number {
  const strata = (stratification ?? []).reduce((sum, { count }) => sum + count, 0)
  return Math.max(sample_size, strata)
}

/** Files that no proposer, experiment or judge may see. */
export function listHiddenPaths({ metric }: Pick<ParsedSpec, 'metric'>): string[] {
  return isJudgedMetric({ metric }) ? (metric.judge?.hidden_reference_paths ?? []) : []
}

type JudgesSection = Pick<JudgeSampleSection, 'judges' | 'model' | 'models'>

/** The models that score, each as often as `judges` says. */
export function listJudgeModels({ model, models }: JudgesSection): string[] {
  return models ?? [model]
}

/** Judge number n asks model n, counted around. */
export function countJudges(judge: JudgesSection): number {
  return judge.judges * listJudgeModels(judge).length
}

/** Lowest and highest score. A score outside counts as missing (invariant 5). */
export type ScoreScale = readonly [low: number, high: number]

interface ScoredSection {
  rubric: string
  scoring: { scale: { lowest: number; highest: number } | null }
}

const RANGE = /(?<![\d.,-])(-?\d+(?:\.\d+)?)\s*(?:-|–|—|\.{2,3}|to|through)\s*(-?\d+(?:\.\d+)?)(?![\d.]*\d)/gi

/** A range in a sentence with one of these words is a scale. Elsewhere it may count words or topics. */
const SCORING = /\b(?:rate|rating|score|scoring|grade|grading|rank|scale|points?)\b/i
const SENTENCE = /[\n;]|[.!?](?=\s|$)/

/**
 * Returns the scale of the spec, else the only range in the rubric's sentences about scoring, else the only range in
 * the rubric. Null when there is none, or several.
 */
export function findScoreScale({ rubric, scoring }: ScoredSection): ScoreScale | null {
  if (scoring.scale !== null) {
    const explicit: ScoreScale = [scoring.scale.lowest, scoring.scale.highest]
    return isScale(explicit) ? explicit : null
  }
  const scored = rubric
    .split(SENTENCE)
    .filter(sentence => SCORING.test(sentence))
    .flatMap(findRanges)
  return getOnlyScale(scored.length > 0 ? scored : findRanges(rubric))
}

function findRanges(text: string): ScoreScale[] {
  const named = [...text.matchAll(RANGE)].map(([, low, high]): ScoreScale => [Number(low), Number(high)])
  return named.filter(isScale)
}

function getOnlyScale([first, ...others]: readonly ScoreScale[]): ScoreScale | null {
  if (first === undefined) return null
  return others.every(([low, high]) => low === first[0] && high === first[1]) ? first : null
}

function isScale([low, high]: ScoreScale): boolean {
  return Number.isFinite(low) && Number.isFinite(high) && low < high
}

// Artifacts

/** The prompts that AWP learns. A suite that pins none learns all of them. */
export const AWP_ARTIFACTS: readonly string[] = [
  'worker_pitfalls',
  'manager_planning_preamble',
  'experiment_context_hint_template',
  'pattern_library',
  'tool_description_templates',
  'critique_rubric',
]

/** The file of an artifact; null where it has another name than AWP's and no path. */
export function getArtifactPath({ name, path }: ParsedSpec['artifacts'][number]): string | null {
  const file = path ?? (AWP_ARTIFACTS.includes(name) ? `prompts/${name}.md` : null)
  return file?.replace(/^(?:\.\/)+/, '') ?? null
}

export function listArtifacts({
  artifacts,
}: Pick<ParsedSpec, 'artifacts'>): { name: string; path: string }[] {
  return artifacts.map(artifact => ({ name: artifact.name, path: getArtifactPath(artifact) ?? '' }))
}

// Money

export type Spender = 'judges' | 'textgrad' | 'the harness'

/** What asks models and is capped by nothing. A person has to allow that. */
export function listUncappedSpenders(
  spec: Pick<Spec, 'metric' | 'measurement' | 'propose' | 'stopping'>,
): Spender[] {
  if (spec.stopping.max_total_cost_usd !== null) return []
  const spenders: Spender[] = []
  if (isJudgedMetric(spec) && (spec.metric.judge?.max_total_cost_usd ?? null) === null)
    spenders.push('judges')
  if (spec.propose.some(({ use }) => use === 'textgrad')) spenders.push('textgrad')
  if (isMetered(spec)) spenders.push('the harness')
  return spenders
}

// Built-in metrics

type DecisiveSections = {
  metric: Pick<ParsedSpec['metric'], 'objectives'> & { primary: { name: string } }
  policy: ParsedSpec['policy']
}

/** Lists the metrics that winnow itself measures and that can change a verdict. Two runs never give equal values. */
export function listTimedDecisiveMetrics({ metric, policy }: DecisiveSections): string[] {
  const objectives = metric.objectives.filter(({ role }) => role !== 'secondary')
  const ties = policy.tie_breakers.map(tie => ('lower' in tie ? tie.lower : tie.higher))
  const names = new Set([metric.primary.name, ...objectives.map(({ name }) => name), ...ties])
  return [...names].filter(name => TIMED_METRICS.has(name))
}

/** Counted only for a spec that names them, because counting takes time. */
export function listCountedMetrics({ metric, policy }: Pick<ParsedSpec, 'metric' | 'policy'>): string[] {
  const ties = policy.tie_breakers.map(tie => ('lower' in tie ? tie.lower : tie.higher))
  const names = new Set([
    metric.primary.name,
    ...metric.objectives.map(({ name }) => name),
    ...metric.degenerate_gates.map(({ name }) => name),
    ...metric.constraints.map(({ metric: name }) => name),
    ...metric.diagnostics.map(({ name }) => name),
    ...ties,
  ])
  return [...names].filter(name => COUNTED_METRICS.has(name ?? ''))
}

// Holdout

/** A ref of the repository, or an environment variable of the measuring machine that names a directory. */
type NamedSource = { ref: string } | { environment: string }

const VARIABLE = /^[A-Z][A-Z0-9_]*$/
const REF_NAME = /^[A-Za-z0-9_][\w.+@=/-]*$/
const BROKEN_REF = /\.\.|\/\/|@\{|\/\.|\.lock(?:\/|$)|[./]$/

/** Reads capitals as an environment variable, anything else as a branch or a full ref; null when it is neither. */
export function parseHoldoutSource(text: string): NamedSource | null {
  if (VARIABLE.test(text)) return { environment: text }
  if (!REF_NAME.test(text) || BROKEN_REF.test(text)) return null
  return { ref: text.startsWith('refs/') ? text : `refs/heads/${text}` }
}

// Placeholder harness

/** Marks a harness from `winnow init` as a placeholder until a person deletes the line. */
export const HARNESS_TODO = 'WINNOW-TODO'

/** Returns the number of the placeholder line, counted from 1; null when the harness has none. */
export function findTodoLine(text: string): number | null {
  const index = text.split('\n').findIndex(line => line.includes(`${HARNESS_TODO}:`))
  return index === -1 ? null : index + 1
}
