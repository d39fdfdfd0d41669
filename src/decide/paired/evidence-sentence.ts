import { type Interval, computeUpperBound } from '../evidence/confidence-interval.ts'
import { computeStateEffect } from '../evidence/reported-effect.ts'
import { type EvidenceReason, type EvidenceVerdict, computeEvidenceVerdict } from '../evidence/verdict.ts'
import { listObjectives } from '../objectives.ts'
import { formatNumber } from '../wording.ts'
import { formatEffect, describeEffect, type MeasuredMetric, toShare } from './effect-text.ts'
import { formatEffort } from './evidence-line.ts'
import type { PairedCase } from './rule.ts'
import { hasNoItemsLeft, type PairsEvaluation } from './standing.ts'

/** Why measuring ended; null where the numbers say it. */
function explainEnd(paired: PairedCase, reason: EvidenceReason): string | null {
  switch (reason) {
    case 'broken':
      return 'two of its executions failed'
    case 'gain-ruled-out':
      return `a gain of ${formatLeastGain(paired)} or more is ruled out`
    case 'large-gain-ruled-out':
      return `stopped early: a gain of ${formatLeastGain(paired, 2)} or more is ruled out`
    case 'large-change-ruled-out':
      return `stopped: a difference of ${formatLeastGain(paired, 2)} or more is ruled out either way`
    case 'gain-unlikely':
      return `stopped early: a gain of ${formatLeastGain(paired)} or more is unlikely`
    case 'no-promise-after-job-1':
      return 'stopped early: too little promise after the first job'
    case 'no-promise-after-job-2':
      return 'stopped early: too little promise after the second job'
    case 'jobs-used-up':
      return describeNotEnough(paired)
    case 'gain-shown':
    case 'harm-shown':
    case 'not-begun':
    case 'measuring':
    case 'promising':
    case 'job-ended':
      return null
    default:
      return reason satisfies never
  }
}

function describeNotEnough(paired: PairedCase): string {
  return `but ${formatEffort(paired)} were not enough to be sure`
}

/** The smallest gain worth having, or a multiple of it: "2 %", "0.5". */
function formatLeastGain({ rule: { min_effect, scale }, spec }: PairedCase, times = 1): string {
  const [{ direction }] = listObjectives(spec.metric)
  if (scale === 'linear') return formatNumber(times * min_effect)
  return `${Number((Math.abs(toShare(times * min_effect, direction)) * 100).toFixed(1))} %`
}

/** What follows the verdict: how much, where the truth lies, and why it ended there (decision.md section 5). */
export function renderEvidenceSentence(paired: PairedCase, standing: PairsEvaluation): string {
  const said = computeEvidenceVerdict(standing.primary)
  const none = describeNoDifference(paired, standing, said)
  if (none !== null) return `${none}.`
  const effect = renderEffectPhrase(paired, standing, said.effect)
  const why = renderQualifier(paired, standing, said)
  if (effect === null || why === null) return `${effect ?? why ?? 'nothing was measured'}.`
  return `${effect}${why.startsWith('but ') ? ',' : ';'} ${why}.`
}

/** Where a gain and a loss worth noticing are both outside the interval: "score differs by less than 2 % (0.1 % higher, …)". */
function describeNoDifference(
  paired: PairedCase,
  { primary, harmed }: PairsEvaluation,
  { reason, effect }: EvidenceVerdict,
): string | null {
  const { interval } = computeStateEffect(primary)
  if (reason !== 'gain-ruled-out' || effect === null || interval === null || harmed.length > 0) return null
  const { rule, spec } = paired
  const [{ name, direction }] = listObjectives(spec.metric)
  if (interval[0] <= -rule.min_effect || interval[1] >= rule.min_effect) return null
  const found = formatSmallEffect(effect, interval, { name, direction, scale: rule.scale })
  return `${name} differs by less than ${formatLeastGain(paired)} (${found})`
}

function formatSmallEffect(effect: number, interval: Interval, measured: MeasuredMetric): string {
  const { size, word, range, unit } = describeEffect(effect, interval, measured)
  return `${size}${unit} ${word}${range === null ? '' : `, ${range[0]} to ${range[1]}${unit}`}`
}

/** Only what is kept, or shown to be worse, is said without "probably"; what may still go on is true "so far". */
function renderEffectPhrase(
  paired: PairedCase,
  standing: PairsEvaluation,
  effect: number | null,
): string | null {
  if (effect === null) return null
  const { spec, rule } = paired
  const [{ name, direction }] = listObjectives(spec.metric)
  const { differences, rule: terms } = standing.primary
  const { interval } = computeStateEffect(standing.primary)
  const { status, harmed } = standing
  const harm = harmed.includes(name)
  // Harm is proven on one side; the two-sided interval is wider, and with a gain in it would contradict the verdict.
  const contradicts = harm && interval !== null && interval[1] >= 0
  const oneSided = (contradicts || (interval === null && status === 'drop')) && !terms.graded
  const upper = oneSided ? computeUpperBound(differences) : null
  const certain = (status === 'keep' && standing.tie === null) || harm
  const open = status === 'new-job' || status === 'continue'
  const text = formatEffect(
    effect,
    contradicts && upper !== null ? null : interval,
    { name, direction, scale: rule.scale },
    { probably: !certain, upper },
  )
  const machine = status === 'keep' && rule.single_machine ? ', on this machine' : ''
  return `${text}${open ? ' so far' : ''}${machine}`
}

function renderQualifier(
  paired: PairedCase,
  standing: PairsEvaluation,
  { reason }: EvidenceVerdict,
): string | null {
  const { status, harmed, open, tie, improved, promising } = standing
  const [{ name }] = listObjectives(paired.spec.metric)
  const others = harmed.filter(each => each !== name)
  if (others.length > 0) return `${others.join(', ')} shown to be worse`
  if (harmed.length > 0) return null
  if (promising !== null)
    return `${promising} is promising${status === 'park' ? `, ${describeNotEnough(paired)}` : ''}`
  if (tie !== null) return `${tie} is better (tie-breaker)`
  if (status === 'keep') return explainKeep(paired, improved)
  if (status === 'park' && hasNoItemsLeft(paired)) return 'no items are left that were not scored before'
  if (improved.length > 0 && open.length > 0) return `${open.join(', ')} not shown harmless yet`
  return explainEnd(paired, reason)
}

/** What was kept for something else than a gain of the primary. */
function explainKeep({ rule, terms, spec }: PairedCase, improved: readonly string[]): string | null {
  const [{ name, direction }] = listObjectives(spec.metric)
  if (terms.as === 'simplify') {
    const { scale, min_effect: least } = rule
    const share = Math.abs(toShare(least, direction)) * 100
    return `simpler, and shown to cost less than ${scale === 'log' ? `${share.toFixed(1)} %` : formatNumber(least)}`
  }
  return improved.includes(name) ? null : `${improved.join(', ')} shown to be better`
}
