import type { StopRule } from '../model/order.ts'
import { aggregateValues, type Execution, type Side } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { type AssessmentFinding, createFinding, createRetryFinding } from './assessment.ts'
import { type Comparison, computeRankScore, computeRegressionBound } from './ce/comparison.ts'
import {
  computeRelativeGain,
  computeSignedDelta,
  listDecisiveMetrics,
  listExecutions,
  listObjectives,
  type Objective,
  readNumber,
  readValuePair,
  type ReportExecutions,
  type ValuePair,
} from './metrics.ts'
import { isTargetReached } from './stop-rules.ts'
import { findDecidingTie, type TieBreaker, type TieComparison } from './tie-breakers.ts'
import { COUNTED_METRICS } from '../spec/schema-values.ts'
import { isJudgedMetric } from '../spec/spec-facts.ts'
import { formatMetricChange, formatTolerance } from './wording.ts'

/** Deterministic metrics: one run a side is enough, and a gain counts when a second run agrees. */
type OnceRule = {
  spec: Pick<Spec, 'metric' | 'policy'>
  minEffect: number
  scale: 'log' | 'linear'
  /** For probes: runs need not be equal. A gain counts if the second run shows it as well. */
  noisy?: true | undefined
  /** The share by which a counted metric may differ between runs of the same code; 0 for all others. */
  tolerance?: number | undefined
}

type OnceVerdict = {
  comparisons: Record<string, Comparison>
  improved: string[]
  violated: string[]
  tie: string | null
  pairs: Map<string, ValuePair>
}

export function readOnceRule({
  min_effect: minEffect,
  scale,
  noisy,
  tolerance,
}: Extract<StopRule, { rule: 'once' }>): Omit<OnceRule, 'spec'> {
  return { minEffect, scale, noisy, tolerance }
}

export function assessOnce(rule: OnceRule, report: ReportExecutions, label: Side): AssessmentFinding {
  const sides = ['base', label] as const
  const [base, candidate] = sides.map(side => listExecutions(report, side, 'sample')[0])
  if (base === undefined) return createRetryFinding('the report has no sample of the base')
  if (candidate === undefined) return createRetryFinding(`the report has no sample of ${label}`)
  const verdict = judgeOnce(rule, base, candidate)
  if ('missing' in verdict) {
    return createFinding('error', `missing required metric: ${verdict.missing.join(', ')}`, {
      failure_class: 'eval',
    })
  }
  if (rule.noisy) return assessNoisyRuns(rule, report, { label, verdict })
  for (const side of sides) {
    const name = findUnsteadyMetric(rule, listExecutions(report, side, 'sample', 'repeat'))
    if (name === null) continue
    const facts = { ...buildFacts(rule, verdict), determinism_lost: true, target_reached: false }
    return createFinding('inconclusive', `${name} differs between runs of ${side}: not deterministic`, facts)
  }
  if (!isGain(verdict)) return createOnceDrop(rule, verdict)
  const [baseRepeat, repeat] = sides.map(side => listExecutions(report, side, 'repeat')[0])
  const isRepeated = baseRepeat !== undefined && repeat !== undefined
  const again = isRepeated ? judgeOnce(rule, baseRepeat, repeat) : verdict
  // Within a tolerance the second run may differ, so it has to show the gain too.
  if (!('missing' in again) && !isGain(again)) return createOnceDrop(rule, again)
  return createOnceKeep(rule, verdict, isRepeated)
}

function assessNoisyRuns(
  rule: OnceRule,
  report: ReportExecutions,
  { label, verdict }: { label: Side; verdict: OnceVerdict },
): AssessmentFinding {
  if (!isGain(verdict)) return createOnceDrop(rule, verdict)
  const runs = (['base', label] as const).map(side => listExecutions(report, side, 'repeat'))
  const [base, candidate] = runs.map(computeMeanRun)
  if (base === undefined || candidate === undefined) return createOnceKeep(rule, verdict, false)
  const second = judgeOnce(rule, base, candidate)
  const isConfirmed = !('missing' in second) && isGain(second)
  // Repeats of a suite run every task, so they say more than the first run of one task.
  const shown = 'missing' in second || base.task === undefined ? verdict : second
  return isConfirmed ? createOnceKeep(rule, shown, true) : createOnceDrop(rule, shown)
}

/** The tasks of a suite as one run, which has the mean of each number. */
function computeMeanRun(runs: readonly Execution[]): Execution | undefined {
  const [first] = runs
  if (first === undefined || runs.length === 1) return first
  const means = Object.keys(first.metrics).map(name => {
    const values = runs.flatMap(run => readNumber(run, name) ?? [])
    return [name, values.length < runs.length ? null : aggregateValues(values, 'mean')] as const
  })
  return { ...first, metrics: Object.fromEntries(means) }
}

function judgeOnce(
  rule: OnceRule,
  base: Execution,
  candidate: Execution,
): OnceVerdict | { missing: string[] } {
  const objectives = listObjectives(rule.spec.metric)
  const pairs = new Map<string, ValuePair>()
  const comparisons: Record<string, Comparison> = {}
  for (const objective of objectives) {
    const pair = readValuePair(objective.name, base, candidate)
    if (pair === null) continue
    pairs.set(objective.name, pair)
    comparisons[objective.name] = compareOnce(objective, pair, rule)
  }
  const missing = objectives.map(objective => objective.name).filter(name => !pairs.has(name))
  if (missing.length > 0) return { missing }
  const improved = objectives
    .filter(({ name, role }) => role === 'required' && comparisons[name]?.verdict === 'improved')
    .map(objective => objective.name)
  const violated = Object.keys(comparisons).filter(name => comparisons[name]?.violated)
  const primary = comparisons[objectives[0].name]
  const base0 = pairs.get(objectives[0].name)?.base ?? 0
  const least = Math.max(computeLeastEffect(rule, base0), computeTolerance(rule, objectives[0].name, base0))
  const isTied = primary !== undefined && Math.abs(primary.delta) <= least
  const decided =
    improved.length === 0 && isTied
      ? findDecidingTie(rule.spec.policy, tie =>
          compareTie(rule, tie, readValuePair(tie.name, base, candidate)),
        )
      : null
  const tie = decided?.is === 'better' ? decided.name : null
  return { comparisons, improved, violated, tie, pairs }
}

function compareTie(rule: OnceRule, { name, direction }: TieBreaker, pair: ValuePair | null): TieComparison {
  if (pair === null) return 'missing'
  const delta = computeSignedDelta(pair.base, pair.candidate, direction)
  if (Math.abs(delta) <= computeTolerance(rule, name, pair.base)) return 'even'
  return delta > 0 ? 'better' : 'worse'
}

function compareOnce(objective: Objective, pair: ValuePair, rule: OnceRule): Comparison {
  const minEffect = computeLeastEffect(rule, pair.base)
  const delta = computeSignedDelta(pair.base, pair.candidate, objective.direction)
  const relative = computeRelativeGain(delta, pair.base)
  const tolerance = computeTolerance(rule, objective.name, pair.base)
  if (tolerance > 0 && Math.abs(delta) <= tolerance)
    return { verdict: 'inconclusive', delta, relative, violated: false }
  if (delta > 0) {
    return { verdict: delta >= minEffect ? 'improved' : 'inconclusive', delta, relative, violated: false }
  }
  const tolerated = objective.role === 'guardrail' ? minEffect : 0
  const bound = computeRegressionBound(objective.maxRegression, pair.base) ?? tolerated
  return { verdict: delta < 0 ? 'regressed' : 'inconclusive', delta, relative, violated: -delta > bound }
}

/** Under log a fraction of the base, under linear the metric's own units. */
export function computeLeastEffect(
  { minEffect, scale }: Pick<OnceRule, 'minEffect' | 'scale'>,
  base: number,
): number {
  return scale === 'log' ? minEffect * Math.abs(base) : minEffect
}

/** Counts of the same code may differ a little, see calibration.ts. */
function computeTolerance({ tolerance = 0 }: OnceRule, name: string, base: number): number {
  return COUNTED_METRICS.has(name) ? tolerance * Math.abs(base) : 0
}

function findUnsteadyMetric(rule: OnceRule, runs: readonly Execution[]): string | null {
  const differs = (name: string) => {
    const values = runs.map(run => readNumber(run, name))
    const known = values.filter(value => value !== null)
    const spread = Math.max(...known) - Math.min(...known)
    const isTolerated =
      known.length === values.length && spread <= computeTolerance(rule, name, Math.min(...known))
    return new Set(values).size > 1 && !isTolerated
  }
  return listDecisiveMetrics(rule.spec).find(differs) ?? null
}

function buildFacts(rule: OnceRule, verdict: OnceVerdict) {
  const objectives = listObjectives(rule.spec.metric)
  const primary = verdict.comparisons[objectives[0].name]
  const improved = verdict.improved.flatMap(name => verdict.comparisons[name] ?? [])
  return {
    comparisons: verdict.comparisons,
    improved_objectives: verdict.improved,
    violated_objectives: verdict.violated,
    primary_delta: primary?.delta ?? null,
    rank_score: primary === undefined ? 0 : computeRankScore(primary, improved),
    target_reached: isTargetReached(objectives, ({ name }) => verdict.pairs.get(name)?.candidate),
  }
}

function isGain(verdict: OnceVerdict): boolean {
  return verdict.violated.length === 0 && (verdict.improved.length > 0 || verdict.tie !== null)
}

function createOnceDrop(rule: OnceRule, verdict: OnceVerdict): AssessmentFinding {
  const primary = verdict.comparisons[rule.spec.metric.primary.name]
  const worse = verdict.violated.length > 0 || primary?.verdict === 'regressed'
  const why = worse ? 'worse' : 'no gain'
  return createFinding(
    'dropped',
    `${why}: ${describeOnceVerdict(rule, verdict)}${rule.noisy ? '' : ', deterministic'}`,
    {
      ...buildFacts(rule, verdict),
      worse,
      failure_class: 'hypothesis',
    },
  )
}

function describeOnceVerdict(rule: OnceRule, verdict: OnceVerdict): string {
  const shown = verdict.violated.length > 0 ? verdict.violated : verdict.improved
  const names = shown.length > 0 ? shown : [rule.spec.metric.primary.name]
  return names
    .map(name => {
      const pair = verdict.pairs.get(name)
      return pair === undefined ? name : formatMetricChange(name, pair.base, pair.candidate)
    })
    .join(', ')
}

/** The caller has checked that the repeats agree. */
function createOnceKeep(rule: OnceRule, verdict: OnceVerdict, isRepeated: boolean): AssessmentFinding {
  const change = describeOnceVerdict(rule, verdict)
  if (!isRepeated)
    return createRetryFinding(`${change}: a gain, but the report has no repeat of it on both sides`)
  const tie = verdict.tie === null ? '' : `, better on ${verdict.tie} (tie-breaker)`
  const reason = `${change}${tie}, ${describeRepetition(rule)}`
  return createFinding('eligible', reason, buildFacts(rule, verdict))
}

function describeRepetition({ spec, noisy, tolerance = 0 }: OnceRule): string {
  if (noisy) return isJudgedMetric(spec) ? 'and again with other items' : 'and again in a second run'
  return tolerance > 0
    ? `deterministic within ${formatTolerance(tolerance)}, confirmed when re-run`
    : 'deterministic, identical when re-run'
}

/** True for a candidate that would be kept if it repeats exactly. */
export function isRepeatNeeded(rule: OnceRule, report: ReportExecutions, label: Side): boolean {
  const base = listExecutions(report, 'base', 'sample')[0]
  const candidate = listExecutions(report, label, 'sample')[0]
  if (base === undefined || candidate === undefined) return false
  const verdict = judgeOnce(rule, base, candidate)
  return !('missing' in verdict) && isGain(verdict)
}
