import { type Objective, listObjectives } from '../objectives.ts'
import type { EvidenceScale } from '../evidence/difference.ts'
import { judgeGuardrail } from '../evidence/guardrail.ts'
import { findFirstCrossing, reverseDifferences } from '../evidence/crossing.ts'
import type { Difference } from '../evidence/rank-evidence.ts'
import { startEvidence } from '../evidence/start-evidence.ts'
import type { EvidenceState } from '../evidence/state.ts'
import {
  computeKeepDifferences,
  computeDifferences,
  hasLogarithms,
  type MetricPair,
  collectMetricPairs,
  observeJobs,
  computeTypicalBase,
} from './metric-pairs.ts'
import type { PairedCase, PairedRule } from './rule.ts'

/** The primary's min_effect in its own units says nothing about another metric: two percent then do. */
const DEFAULT_SHARE = 0.02

function getEffectShare({ scale, min_effect }: PairedRule): number {
  return scale === 'log' ? min_effect : DEFAULT_SHARE
}

/** The scale was pinned for the primary; another metric is compared on it where it can be. */
export function selectScale(rule: Pick<PairedRule, 'scale'>, pairs: readonly MetricPair[]): EvidenceScale {
  return rule.scale === 'log' && hasLogarithms(pairs) ? 'log' : 'linear'
}

/** What counts as a gain of an objective, in the units of its scale; never 0, since nothing can be shown of that. */
function selectEffects(
  rule: PairedRule,
  objective: Objective,
  pairs: readonly MetricPair[],
  primary: boolean,
) {
  const scale = primary ? rule.scale : selectScale(rule, pairs)
  const { min_effect, null_effect } = rule
  if (primary || (rule.scale === 'log' && scale === 'log'))
    return { scale, minEffect: min_effect, nullEffect: null_effect }
  const minEffect =
    scale === 'log'
      ? getEffectShare(rule)
      : getEffectShare(rule) * computeTypicalBase(pairs) || Number.MIN_VALUE
  return { scale, minEffect, nullEffect: minEffect * (null_effect / min_effect) }
}

/** One required objective's evidence; m of them share the level (decision.md 3.4). */
export function computeObjectiveEvidence(
  { spec, rule, terms, jobs }: PairedCase,
  objective: Objective,
): EvidenceState {
  const objectives = listObjectives(spec.metric)
  const required = objectives.filter(({ role }) => role === 'required')
  const pairs = collectMetricPairs(jobs, objective.name)
  const start = startEvidence({
    direction: objective.direction,
    ...selectEffects(rule, objective, pairs, objective.name === objectives[0].name),
    alpha: terms.level,
    screen: rule.screen,
    pairsPerJob: rule.pairs,
    maxJobs: terms.max_jobs,
    giveUp: terms.give_up,
    graded: objective.judged,
    freshRunners: rule.fresh_runners,
    singleMachine: rule.single_machine,
    confirmed: terms.as === 'confirmed',
    combination: terms.as === 'combination',
    m: required.length,
  })
  return observeJobs(start, jobs, objective.name)
}

/** How much worse a guardrail may be, on the scale it is compared on: max_regression, else min_effect. */
export function computeGuardrailMargin(
  rule: PairedRule,
  { maxRegression, direction }: Objective,
  pairs: readonly MetricPair[],
) {
  if (maxRegression?.type === 'absolute' && maxRegression.value >= 0)
    return { scale: 'linear' as const, margin: maxRegression.value }
  const scale = selectScale(rule, pairs)
  const share = maxRegression !== null && maxRegression.value >= 0 ? maxRegression.value : null
  if (scale === 'linear')
    return { scale, margin: (share ?? getEffectShare(rule)) * computeTypicalBase(pairs) }
  if (share === null) return { scale, margin: getEffectShare(rule) }
  return {
    scale,
    margin: direction === 'minimize' ? Math.log1p(share) : -Math.log1p(-Math.min(share, 0.999)),
  }
}

const MARGIN_SHOWN = 20

/** Enough equal pairs to say that a side does not differ at all, where no margin could ever be shown to hold. */
const EQUAL_PAIRS = 6

export function evaluateGuardrail(
  { rule, jobs }: PairedCase,
  guardrail: Objective,
): 'harmless' | 'harmful' | 'open' {
  const pairs = collectMetricPairs(jobs, guardrail.name)
  const { scale, margin } = computeGuardrailMargin(rule, guardrail, pairs)
  const measure = { direction: guardrail.direction, scale }
  const differences = computeDifferences(pairs, measure)
  const forKeeping = computeKeepDifferences(jobs, guardrail.name, measure)
  if (differences.length >= EQUAL_PAIRS && differences.every(difference => difference === 0))
    return 'harmless'
  const allowed = guardrail.maxRegression !== null && isShownWithinMargin(differences, margin, forKeeping)
  return allowed ? 'harmless' : judgeGuardrail(differences, margin, forKeeping)
}

/** A loss that is shown no sooner than that it is smaller than what the spec allows is an allowed one. */
function isShownWithinMargin(
  differences: readonly Difference[],
  margin: number,
  forKeeping: readonly Difference[],
): boolean {
  const within = findFirstCrossing(forKeeping, -margin, MARGIN_SHOWN)
  return within < Infinity && within <= findFirstCrossing(reverseDifferences(differences), 0, MARGIN_SHOWN)
}
