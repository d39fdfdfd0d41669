import { toSentenceCase } from '../model/text.ts'
import type { Assessment } from '../decide/assessment.ts'
import { computeStateEffect, computeUpperBound } from '../decide/evidence/interval.ts'
import { listObjectives } from '../decide/metrics.ts'
import {
  describeEffect,
  formatUpperBound,
  type MeasuredMetric,
  toShare,
} from '../decide/paired/effect-text.ts'
import { evaluatePairs, type PairedCase, type PairsEvaluation } from '../decide/paired/evaluate.ts'
import { renderEvidenceLine } from '../decide/paired/evidence-text.ts'
import {
  formatCount,
  formatMetricChange,
  formatNumber,
  formatRounded,
  formatTolerance,
} from '../decide/wording.ts'
import type { Calibration, Noise } from '../model/campaign.ts'
import type { Point } from '../model/ids.ts'
import { getOwnValue } from '../model/own-value.ts'
import { aggregateReadings } from '../model/pairs.ts'
import {
  aggregateMetrics,
  type FailedOutput,
  getAggregation,
  type MetricValues,
  type Report,
  type Side,
} from '../model/report.ts'
import { EXIT_CODES } from '../model/verdict.ts'
import { BUILT_IN_METRICS } from '../spec/schema-values.ts'
import type { Spec } from '../spec/schema.ts'
import { formatDollars, type HarnessTrial, type ModelSpending } from './check-trial.ts'
import { formatDuration } from './terminal.ts'
import { computePairedNumbers } from './verdict-text.ts'

// Result

/** The comparison of two trees. It has no ledger. */
export interface ComparisonResult {
  spec: Spec
  base: { name: string; point: Point }
  head: { name: string; point: Point }
  label: Side
  trial: Pick<HarnessTrial, 'calibration' | 'prospects' | 'quieterLine'> | null
  paired: PairedCase | null
  assessment: Assessment | null
  report: Report | null
  /** `saved`: runs of the base that served both comparisons, so that they were not run twice. */
  executions: { calibration: number; comparison: number; saved: number }
  /** Measuring time only, without waiting for other processes or for an answer. */
  seconds: number
  /** Value of --max-minutes; null if not given. */
  minutes: number | null
  end: CompareEnd
  /** Null where the command asks no models through winnow. */
  models: ModelSpending | null
  /** Set when the second side is broken: the command, its last output and the advice. */
  failure: CompareFailure | null
}

export interface CompareFailure {
  command?: string
  output?: FailedOutput
  fix?: string
}

/** decided: the decision rule ended the comparison. The other values ended it earlier. */
export type CompareEnd = 'decided' | 'interrupted' | 'time' | 'money' | 'declined' | 'same'

type CompareVerdict = 'better' | 'no gain' | 'worse' | 'not proven' | 'refused' | 'broken'

const INTERRUPTED = 130

/** Output of `winnow compare --json`, and the source of all its texts. */
export interface CompareView {
  verdict: CompareVerdict
  sentence: string
  /** Evidence behind the sentence; null without pairs. */
  evidence_line: string | null
  base: SideView
  head: SideView
  metric: { name: string; direction: 'minimize' | 'maximize' }
  compared: 'pairs' | 'once' | null
  scale: 'log' | 'linear' | null
  min_effect: number | null
  /** Positive is better. On the log scale, a difference of natural logarithms. */
  effect: number | null
  interval: readonly [number, number] | null
  evidence: { reached: number; needed: number } | null
  pairs: number
  jobs: number
  executions: ComparisonResult['executions']
  seconds: number
  noise: Noise | null
  /** A metric that differs less between the same runs of the base; null if there is none. */
  quieter: Calibration['quieter'] | null
  models: ModelSpending | null
  failure: { command: string | null; output: FailedOutput | null; fix: string | null } | null
}

interface SideView extends Point {
  name: string
  metrics: MetricValues
}

export function buildCompareView(compared: ComparisonResult): CompareView {
  const { spec, trial, paired, report, executions, seconds, models, failure } = compared
  const [{ name, direction }] = listObjectives(spec.metric)
  const measured = paired !== null && paired.jobs.length > 0 ? paired : null
  const evaluation = measured === null ? null : evaluatePairs(measured)
  const calibration = trial?.calibration ?? null
  const verdict = toCompareVerdict(compared)
  return {
    verdict,
    sentence: renderComparisonSentence(compared, verdict, evaluation),
    evidence_line: measured && evaluation && renderEvidenceLine(measured, evaluation, 'pairs'),
    base: buildSideView(compared, 'base'),
    head: buildSideView(compared, 'head'),
    metric: { name, direction },
    compared: measured !== null ? 'pairs' : paired === null && report !== null ? 'once' : null,
    scale: calibration?.scale ?? null,
    min_effect: paired?.rule.min_effect ?? spec.evidence.min_effect,
    ...(measured === null || evaluation === null ? NO_PAIRS : computePairedNumbers(measured, evaluation)),
    pairs: measured?.jobs.flatMap(({ pairs }) => pairs).length ?? 0,
    jobs: measured?.jobs.length ?? 0,
    executions,
    seconds,
    noise: calibration?.noise ?? null,
    quieter: calibration?.quieter ?? null,
    models,
    failure: failure && { command: null, output: null, fix: null, ...failure },
  }
}

const NO_PAIRS = { effect: null, interval: null, evidence: null }

function buildSideView(compared: ComparisonResult, which: 'base' | 'head'): SideView {
  const { name, point } = compared[which]
  return { name, ...point, metrics: collectSideMetrics(compared, which) }
}

/** Takes both sides from the pairs of all jobs, like the effect, and not from the last job alone. */
function collectSideMetrics(
  { label, report, spec, paired }: ComparisonResult,
  which: 'base' | 'head',
): MetricValues {
  const aggregation = getAggregation(spec)
  if (paired !== null && paired.jobs.length > 0)
    return aggregateReadings(paired.jobs, which === 'base' ? 'base' : 'candidate', aggregation)
  return report === null ? {} : aggregateMetrics(report, which === 'base' ? 'base' : label, aggregation)
}

function toCompareVerdict({ end, assessment }: ComparisonResult): CompareVerdict {
  if (end === 'same') return 'no gain'
  if (assessment === null) return 'not proven'
  switch (assessment.outcome) {
    case 'eligible':
      return 'better'
    case 'dropped':
      return assessment.worse ? 'worse' : 'no gain'
    case 'inconclusive':
    case 'promising':
      return 'not proven'
    case 'refused':
      return 'refused'
    case 'censored':
    case 'degenerate':
    case 'error':
    case 'timeout':
      return 'broken'
    default:
      return assessment.outcome satisfies never
  }
}

export function toCompareExitCode({ verdict }: CompareView, end: CompareEnd): number {
  if (end === 'interrupted' || end === 'declined') return INTERRUPTED
  return EXIT_CODES[verdict === 'better' ? 'kept' : verdict]
}

// Sentence

export const WORK_TREE = 'your work tree'

function renderComparisonSentence(
  compared: ComparisonResult,
  word: CompareVerdict,
  evaluation: PairsEvaluation | null,
): string {
  const sentence = composeComparisonSentence(compared, word, evaluation)
  // A branch keeps its spelling. Any other name starts with a capital.
  return sentence.startsWith(compared.head.name) && compared.head.name !== WORK_TREE
    ? sentence
    : toSentenceCase(sentence)
}

function composeComparisonSentence(
  compared: ComparisonResult,
  word: CompareVerdict,
  evaluation: PairsEvaluation | null,
): string {
  const { base, head, end, assessment } = compared
  if (end === 'same')
    return `${head.name} and ${base.name} have the same files: there is nothing to compare, and nothing was run.`
  if (word === 'broken' || word === 'refused')
    return `${head.name} is ${word}: ${(assessment?.reason ?? '').split('\n')[0]}`
  return `${evaluation === null ? describeSingleRunResult(compared, word) : describePairedResult(compared, word, evaluation)}.`
}

function describePairedResult(
  compared: ComparisonResult,
  word: CompareVerdict,
  evaluation: PairsEvaluation,
): string {
  const sure = describeComparedEffect(compared, evaluation, '')
  const probable = describeComparedEffect(compared, evaluation, 'probably ')
  switch (word) {
    case 'better':
    case 'worse':
      return sure
    case 'no gain':
      return `no gain of ${formatMinEffect(compared)} or more: ${probable}`
    case 'not proven':
    case 'refused':
    case 'broken':
      return `${describeUnproven(compared)}: ${probable}${compared.end === 'decided' ? describeRuledOutDifference(compared, evaluation) : ' so far'}`
    default:
      return word satisfies never
  }
}

function describeRuledOutDifference(compared: ComparisonResult, { primary }: PairsEvaluation): string {
  if (primary.given_up?.reason !== 'large-change-ruled-out') return ''
  return `; a difference of ${formatMinEffect(compared, 2)} or more is ruled out either way`
}

function describeUnproven({ end, minutes, models, paired }: ComparisonResult): string {
  switch (end) {
    case 'decided':
      return `not proven in ${formatCount(paired?.jobs.length ?? 0, 'job')}`
    case 'time':
      return `not proven within ${formatDuration(60 * (minutes ?? 0))} of measuring`
    case 'money':
      return `not proven for ${formatDollars(models?.cap_usd ?? 0)} of model calls (${models?.cap_key})`
    case 'interrupted':
    case 'declined':
    case 'same':
      return 'interrupted, and not proven'
    default:
      return end satisfies never
  }
}

/** Example: "my-branch is 4.1 % faster than main (between 2.9 and 5.2 %)". */
function describeComparedEffect(
  { base, head, spec, paired }: ComparisonResult,
  evaluation: PairsEvaluation,
  sure: string,
): string {
  const [{ name, direction }] = listObjectives(spec.metric)
  const { effect, interval } = computeStateEffect(evaluation.primary)
  if (effect === null) return `${head.name} could not be compared with ${base.name}`
  const measured: MeasuredMetric = { name, direction, scale: paired?.rule.scale ?? 'log' }
  const { size, word, range, unit } = describeEffect(effect, interval, measured)
  const upper = evaluation.status === 'drop' ? computeUpperBound(evaluation.primary.differences) : null
  const open = upper === null ? 'too few pairs for an interval' : formatUpperBound(upper, measured)
  const between = range === null ? ` (${open})` : ` (between ${range[0]} and ${range[1]}${unit})`
  return `${head.name} ${formatPredicate(name, `${sure}${size}${unit} ${word}`)} than ${base.name}${between}`
}

function formatPredicate(name: string, much: string): string {
  if (name === 'wall_seconds') return `is ${much}`
  if (BUILT_IN_METRICS.has(name)) return `needs ${much}`
  return `has ${much} ${name}`
}

function formatMinEffect({ paired, spec }: ComparisonResult, times = 1): string {
  const least = times * (paired?.rule.min_effect ?? spec.evidence.min_effect ?? 0)
  const [{ name, direction }] = listObjectives(spec.metric)
  if (paired?.rule.scale === 'linear') return `${formatNumber(least)} ${name}`
  return `${formatRounded(Math.abs(toShare(least, direction)) * 100, 2)} %`
}

const EARLY_ENDS: Partial<Record<CompareEnd, string>> = {
  time: 'the time ran out',
  money: 'the money for model calls ran out',
}

/** A deterministic result needs no interval: the two numbers are enough. */
function describeSingleRunResult(compared: ComparisonResult, word: CompareVerdict): string {
  const { base, head, spec, label, report, end } = compared
  if (report === null || end !== 'decided')
    return `${EARLY_ENDS[end] ?? 'interrupted'} before ${head.name} and ${base.name} were compared: there is no result yet`
  const [{ name }] = listObjectives(spec.metric)
  const aggregation = getAggregation(spec)
  const [before, after] = (['base', label] as const).map(side =>
    getOwnValue(aggregateMetrics(report, side, aggregation), name),
  )
  const change =
    typeof before === 'number' && typeof after === 'number' ? formatMetricChange(name, before, after) : name
  const tolerance = compared.trial?.calibration?.tolerance
  const took =
    tolerance === undefined ? 'it repeats exactly' : `it repeats within ${formatTolerance(tolerance)}`
  if (before === after) return `${head.name} and ${base.name} give the same result: ${change}; ${took}`
  if (word === 'no gain') return `no gain worth having: ${head.name} against ${base.name}, ${change}; ${took}`
  return `${head.name} is ${word} than ${base.name}: ${change}; ${took}`
}
