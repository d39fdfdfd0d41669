import { UserError } from '../errors.ts'
import { BUILT_IN_METRICS } from './schema-values.ts'
import type { ParsedSpec, Spec } from './schema.ts'

/** What only calibration knows. */
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

/** A value of 0 or less has no logarithm; comparing differences instead is always possible. */
function resolveScale({ evidence, metric }: Spec, { scale }: CalibratedScale): 'log' | 'linear' {
  if (evidence.scale === 'auto') return scale
  if (evidence.scale === 'linear' || scale === 'log') return evidence.scale
  throw new UserError(`evidence.scale is log, but ${metric.primary.name} has values of 0 or less`, {
    place: { path: 'evidence.scale' },
    fix: 'set evidence.scale: linear, or auto',
  })
}

/** 2 % is a share, and on a linear scale there is no whole that it would be a share of. */
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

/** The evidence section with everything pinned that the file leaves to calibration. */
export function resolveEvidence(spec: Spec, calibrated: CalibratedScale): ResolvedEvidence {
  const scale = resolveScale(spec, calibrated)
  const min_effect = resolveMinEffect(spec, scale, calibrated.deterministic)
  const null_effect = resolveNullEffect(spec, min_effect, calibrated.singleMachine)
  return { ...spec.evidence, scale, min_effect, null_effect }
}

const LONG_EXECUTION_SECONDS = 20

/** Warm-ups cost two executions a job, so short executions are worth more pairs. */
export function resolvePairsPerJob(
  evidence: Pick<Spec['evidence'], 'pairs_per_job'>,
  executionSeconds: number,
): number {
  if (evidence.pairs_per_job !== 'auto') return evidence.pairs_per_job
  return executionSeconds < LONG_EXECUTION_SECONDS ? 8 : 4
}

/**
 * The part of a spec that measures; the harness hash (invariant 4) is taken over its canonical form. A holdout
 * is asked by orders that carry its terms: a fresh one voids nothing that was measured with the harness.
 */
type HarnessSection = Pick<Spec, 'measurement' | 'metric' | 'gates'>

export function getHarnessSection({ measurement, metric, gates }: Spec): HarnessSection {
  return structuredClone({ measurement: { ...measurement, holdout: null }, metric, gates })
}

type JudgeSampleSection = NonNullable<ParsedSpec['metric']['judge']>
type PrimaryTypeSection = { metric: { primary: { type: ParsedSpec['metric']['primary']['type'] } } }

/** A model scores what the harness prints as items: nothing the harness prints is the primary metric itself. */
export function isJudgedMetric({ metric }: PrimaryTypeSection): boolean {
  return metric.primary.type === 'judge'
}

/** How many items of each side one job scores: its strata, or more where the sample is larger. */
export function countSampleItems({
  sample_size,
  stratification,
}: Pick<JudgeSampleSection, 'sample_size' | 'stratification'>): number {
  const strata = (stratification ?? []).reduce((sum, { count }) => sum + count, 0)
  return Math.max(sample_size, strata)
}

/** Lowest and highest score: whatever lies outside counts as missing (invariant 5). */
export type ScoreScale = readonly [low: number, high: number]

interface ScoredSection {
  rubric: string
  scoring: { scale: { lowest: number; highest: number } | null }
}

const RANGE = /(?<![\d.,-])(-?\d+(?:\.\d+)?)\s*(?:-|–|—|\.{2,3}|to|through)\s*(-?\d+(?:\.\d+)?)(?![\d.]*\d)/gi

/** In a sentence with one of these a range is a scale; elsewhere it may count words, topics or anything. */
const SCORING = /\b(?:rate|rating|score|scoring|grade|grading|rank|scale|points?)\b/i
const SENTENCE = /[\n;]|[.!?](?=\s|$)/

/**
 * As the spec gives it, else the one range that its rubric scores by; null: it names none, or several. Where no sentence
 * speaks of scoring, it is the one range that there is.
 */
export function findScoreScale({ rubric, scoring }: ScoredSection): ScoreScale | null {
  if (scoring.scale !== null) {
    const given: ScoreScale = [scoring.scale.lowest, scoring.scale.highest]
    return isScale(given) ? given : null
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

type DecisiveSections = {
  metric: Pick<ParsedSpec['metric'], 'objectives'> & { primary: { name: string } }
  policy: ParsedSpec['policy']
}

/** Metrics winnow times or weighs itself that can change a verdict: no two runs of them are ever equal. */
export function listTimedDecisiveMetrics({ metric, policy }: DecisiveSections): string[] {
  const objectives = metric.objectives.filter(({ role }) => role !== 'secondary')
  const ties = policy.tie_breakers.map(tie => ('lower' in tie ? tie.lower : tie.higher))
  const names = new Set([metric.primary.name, ...objectives.map(({ name }) => name), ...ties])
  return [...names].filter(name => BUILT_IN_METRICS.has(name))
}

/** Where a holdout comes from: a ref of the repository, or a directory that the measuring machine names. */
type NamedSource = { ref: string } | { environment: string }

const VARIABLE = /^[A-Z][A-Z0-9_]*$/
const REF_NAME = /^[A-Za-z0-9_][\w.+@=/-]*$/
const BROKEN_REF = /\.\.|\/\/|@\{|\/\.|\.lock(?:\/|$)|[./]$/

/** Capitals name a variable of the environment; anything else a branch, or a ref in full. Null: neither. */
export function parseHoldoutSource(text: string): NamedSource | null {
  if (VARIABLE.test(text)) return { environment: text }
  if (!REF_NAME.test(text) || BROKEN_REF.test(text)) return null
  return { ref: text.startsWith('refs/') ? text : `refs/heads/${text}` }
}

/** In a harness that `winnow init` wrote: until a person deletes this line, it measures a stand-in. */
export const HARNESS_TODO = 'WINNOW-TODO'

/** The line, from 1, that says so; null where the harness is somebody's own. */
export function findTodoLine(text: string): number | null {
  const index = text.split('\n').findIndex(line => line.includes(`${HARNESS_TODO}:`))
  return index === -1 ? null : index + 1
}
