import { type Interval, upperBound } from '../evidence/confidence-interval.ts'
import { effectIn } from '../evidence/reported-effect.ts'
import { type EvidenceReason, type EvidenceVerdict, verdict } from '../evidence/verdict.ts'
import { objectivesOf } from '../objectives.ts'
import { numberText } from '../wording.ts'
import { effectText, effectWords, type Measured, shareOf } from './effect-text.ts'
import { effortText } from './evidence-line.ts'
import type { PairedCase } from './rule.ts'
import { noItemsLeft, type Standing } from './standing.ts'

/** Why measuring ended; null where the numbers say it. */
function whyEnded(paired: PairedCase, reason: EvidenceReason): string | null {
  switch (reason) {
    case 'broken':
      return 'two of its executions failed'
    case 'gain-ruled-out':
      return `a gain of ${leastText(paired)} or more is ruled out`
    case 'large-gain-ruled-out':
      return `stopped early: a gain of ${leastText(paired, 2)} or more is ruled out`
    case 'large-change-ruled-out':
      return `stopped: a difference of ${leastText(paired, 2)} or more is ruled out either way`
    case 'gain-unlikely':
      return `stopped early: a gain of ${leastText(paired)} or more is unlikely`
    case 'no-promise-after-job-1':
      return 'stopped early: too little promise after the first job'
    case 'no-promise-after-job-2':
      return 'stopped early: too little promise after the second job'
    case 'jobs-used-up':
      return notEnough(paired)
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

function notEnough(paired: PairedCase): string {
  return `but ${effortText(paired)} were not enough to be sure`
}

/** The smallest gain worth having, or a multiple of it: "2 %", "0.5". */
function leastText({ rule: { min_effect, scale }, spec }: PairedCase, times = 1): string {
  const [{ direction }] = objectivesOf(spec.metric)
  if (scale === 'linear') return numberText(times * min_effect)
  return `${Number((Math.abs(shareOf(times * min_effect, direction)) * 100).toFixed(1))} %`
}

/** What follows the verdict: how much, where the truth lies, and why it ended there (decision.md section 5). */
export function evidenceSentence(paired: PairedCase, standing: Standing): string {
  const said = verdict(standing.primary)
  const none = noDifference(paired, standing, said)
  if (none !== null) return `${none}.`
  const effect = effectPhrase(paired, standing, said.effect)
  const why = qualifier(paired, standing, said)
  if (effect === null || why === null) return `${effect ?? why ?? 'nothing was measured'}.`
  return `${effect}${why.startsWith('but ') ? ',' : ';'} ${why}.`
}

/** Where a gain and a loss worth noticing are both outside the interval: "score differs by less than 2 % (0.1 % higher, …)". */
function noDifference(
  paired: PairedCase,
  { primary, harmed }: Standing,
  { reason, effect }: EvidenceVerdict,
): string | null {
  const { interval } = effectIn(primary)
  if (reason !== 'gain-ruled-out' || effect === null || interval === null || harmed.length > 0) return null
  const { rule, spec } = paired
  const [{ name, direction }] = objectivesOf(spec.metric)
  if (interval[0] <= -rule.min_effect || interval[1] >= rule.min_effect) return null
  const found = smallText(effect, interval, { name, direction, scale: rule.scale })
  return `${name} differs by less than ${leastText(paired)} (${found})`
}

function smallText(effect: number, interval: Interval, measured: Measured): string {
  const { size, word, range, unit } = effectWords(effect, interval, measured)
  return `${size}${unit} ${word}${range === null ? '' : `, ${range[0]} to ${range[1]}${unit}`}`
}

/** Only what is kept, or shown to be worse, is said without "probably"; what may still go on is true "so far". */
function effectPhrase(paired: PairedCase, standing: Standing, effect: number | null): string | null {
  if (effect === null) return null
  const { spec, rule } = paired
  const [{ name, direction }] = objectivesOf(spec.metric)
  const { differences, rule: terms } = standing.primary
  const { interval } = effectIn(standing.primary)
  const { status, harmed } = standing
  const harm = harmed.includes(name)
  // Harm is proven on one side; the two-sided interval is wider, and with a gain in it would contradict the verdict.
  const contradicts = harm && interval !== null && interval[1] >= 0
  const oneSided = (contradicts || (interval === null && status === 'drop')) && !terms.graded
  const upper = oneSided ? upperBound(differences) : null
  const certain = (status === 'keep' && standing.tie === null) || harm
  const open = status === 'new-job' || status === 'continue'
  const text = effectText(
    effect,
    contradicts && upper !== null ? null : interval,
    { name, direction, scale: rule.scale },
    { probably: !certain, upper },
  )
  const machine = status === 'keep' && rule.single_machine ? ', on this machine' : ''
  return `${text}${open ? ' so far' : ''}${machine}`
}

function qualifier(paired: PairedCase, standing: Standing, { reason }: EvidenceVerdict): string | null {
  const { status, harmed, open, tie, improved, promising } = standing
  const [{ name }] = objectivesOf(paired.spec.metric)
  const others = harmed.filter(each => each !== name)
  if (others.length > 0) return `${others.join(', ')} shown to be worse`
  if (harmed.length > 0) return null
  if (promising !== null)
    return `${promising} is promising${status === 'park' ? `, ${notEnough(paired)}` : ''}`
  if (tie !== null) return `${tie} is better (tie-breaker)`
  if (status === 'keep') return keptFor(paired, improved)
  if (status === 'park' && noItemsLeft(paired)) return 'no items are left that were not scored before'
  if (improved.length > 0 && open.length > 0) return `${open.join(', ')} not shown harmless yet`
  return whyEnded(paired, reason)
}

/** What was kept for something else than a gain of the primary. */
function keptFor({ rule, terms, spec }: PairedCase, improved: readonly string[]): string | null {
  const [{ name, direction }] = objectivesOf(spec.metric)
  if (terms.as === 'simplify') {
    const { scale, min_effect: least } = rule
    const share = Math.abs(shareOf(least, direction)) * 100
    return `simpler, and shown to cost less than ${scale === 'log' ? `${share.toFixed(1)} %` : numberText(least)}`
  }
  return improved.includes(name) ? null : `${improved.join(', ')} shown to be better`
}
