import type { Execution, Side } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { again, type Finding, finding } from './assessment.ts'
import { type Comparison, regressionBound } from './comparison.ts'
import { type Objective, objectivesOf, relativeGain, signedDelta } from './objectives.ts'
import { type Executions, executionsOf, type Pair, pairOf, readingOf } from './readings.ts'
import { rankScore } from './stability.ts'
import { targetReached } from './targets.ts'
import { decisiveMetrics, tieWon } from './tie-breakers.ts'
import { changeText } from './wording.ts'

/** Deterministic metrics: one run a side says it all, and a gain is believed when a second run agrees. */
type Rule = { spec: Pick<Spec, 'metric' | 'policy'>; minEffect: number; scale: 'log' | 'linear' }
type Verdict = {
  comparisons: Record<string, Comparison>
  improved: string[]
  violated: string[]
  /** The tie-breaker that decided, if one did. */
  tie: string | null
  pairs: Map<string, Pair>
}

/** Under log a fraction of the base, under linear the metric's own units. */
function leastEffect({ minEffect, scale }: Pick<Rule, 'minEffect' | 'scale'>, base: number): number {
  return scale === 'log' ? minEffect * Math.abs(base) : minEffect
}

function compareOnce(objective: Objective, pair: Pair, rule: Rule): Comparison {
  const minEffect = leastEffect(rule, pair.base)
  const delta = signedDelta(pair.base, pair.candidate, objective.direction)
  const relative = relativeGain(delta, pair.base)
  if (delta > 0) {
    return { verdict: delta >= minEffect ? 'improved' : 'inconclusive', delta, relative, violated: false }
  }
  const tolerated = objective.role === 'guardrail' ? minEffect : 0
  const bound = regressionBound(objective.maxRegression, pair.base) ?? tolerated
  return { verdict: delta < 0 ? 'regressed' : 'inconclusive', delta, relative, violated: -delta > bound }
}

function judgeOnce(rule: Rule, base: Execution, candidate: Execution): Verdict | { missing: string[] } {
  const objectives = objectivesOf(rule.spec.metric)
  const pairs = new Map<string, Pair>()
  const comparisons: Record<string, Comparison> = {}
  for (const objective of objectives) {
    const pair = pairOf(objective.name, base, candidate)
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
  const level = primary !== undefined && Math.abs(primary.delta) <= leastEffect(rule, base0)
  const tie = improved.length === 0 && level ? tieWon(rule.spec.policy, base, candidate) : null
  return { comparisons, improved, violated, tie, pairs }
}

function gains(verdict: Verdict): boolean {
  return verdict.violated.length === 0 && (verdict.improved.length > 0 || verdict.tie !== null)
}

/** Whether the runner has to run both sides once more: this would be kept if it repeats exactly. */
export function needsRepeat(rule: Rule, report: Executions, label: Side): boolean {
  const base = executionsOf(report, 'base', 'sample')[0]
  const candidate = executionsOf(report, label, 'sample')[0]
  if (base === undefined || candidate === undefined) return false
  const verdict = judgeOnce(rule, base, candidate)
  return !('missing' in verdict) && gains(verdict)
}

/** The first decisive metric that one side's executions do not agree on. */
function unsteady(rule: Rule, runs: readonly Execution[]): string | null {
  const differs = (name: string) => new Set(runs.map(run => readingOf(run, name))).size > 1
  return decisiveMetrics(rule.spec).find(differs) ?? null
}

function describe(rule: Rule, verdict: Verdict): string {
  const shown = verdict.violated.length > 0 ? verdict.violated : verdict.improved
  const names = shown.length > 0 ? shown : [rule.spec.metric.primary.name]
  return names
    .map(name => {
      const pair = verdict.pairs.get(name)
      return pair === undefined ? name : changeText(name, pair.base, pair.candidate)
    })
    .join(', ')
}

function factsOf(rule: Rule, verdict: Verdict) {
  const objectives = objectivesOf(rule.spec.metric)
  const primary = verdict.comparisons[objectives[0].name]
  const improved = verdict.improved.flatMap(name => verdict.comparisons[name] ?? [])
  return {
    comparisons: verdict.comparisons,
    improved_objectives: verdict.improved,
    violated_objectives: verdict.violated,
    primary_delta: primary?.delta ?? null,
    rank_score: primary === undefined ? 0 : rankScore(primary, improved),
    target_reached: targetReached(objectives, ({ name }) => verdict.pairs.get(name)?.candidate),
  }
}

function lost(rule: Rule, verdict: Verdict): Finding {
  const primary = verdict.comparisons[rule.spec.metric.primary.name]
  const worse = verdict.violated.length > 0 || primary?.verdict === 'regressed'
  const why = worse ? 'worse' : 'no gain'
  return finding('dropped', `${why}: ${describe(rule, verdict)}, deterministic`, {
    ...factsOf(rule, verdict),
    worse,
    failure_class: 'hypothesis',
  })
}

/** Needs a repeat on each side; that they agree was checked before. */
function confirmed(rule: Rule, verdict: Verdict, repeats: readonly Execution[][]): Finding {
  if (repeats.some(runs => runs.length === 0)) {
    return again(`${describe(rule, verdict)}: a gain, but the report has no repeat of it on both sides`)
  }
  const tie = verdict.tie === null ? '' : `, better on ${verdict.tie} (tie-breaker)`
  const reason = `${describe(rule, verdict)}${tie}, deterministic, identical when re-run`
  return finding('eligible', reason, factsOf(rule, verdict))
}

export function assessOnce(rule: Rule, report: Executions, label: Side): Finding {
  const sides = ['base', label] as const
  const [base, candidate] = sides.map(side => executionsOf(report, side, 'sample')[0])
  if (base === undefined) return again('the report has no sample of the base')
  if (candidate === undefined) return again(`the report has no sample of ${label}`)
  const verdict = judgeOnce(rule, base, candidate)
  if ('missing' in verdict) {
    return finding('error', `missing required metric: ${verdict.missing.join(', ')}`, {
      failure_class: 'eval',
    })
  }
  for (const side of sides) {
    const name = unsteady(rule, executionsOf(report, side, 'sample', 'repeat'))
    if (name === null) continue
    const facts = { ...factsOf(rule, verdict), determinism_lost: true, target_reached: false }
    return finding('inconclusive', `${name} differs between runs of ${side}: not deterministic`, facts)
  }
  if (!gains(verdict)) return lost(rule, verdict)
  return confirmed(
    rule,
    verdict,
    sides.map(side => executionsOf(report, side, 'repeat')),
  )
}
