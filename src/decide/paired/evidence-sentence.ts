import { upperBound } from '../evidence/confidence-interval.ts'
import { effectIn } from '../evidence/reported-effect.ts'
import { type EvidenceReason, type EvidenceVerdict, verdict } from '../evidence/verdict.ts'
import { objectivesOf } from '../objectives.ts'
import { numberText } from '../wording.ts'
import { effectText, shareOf } from './effect-text.ts'
import type { PairedCase } from './rule.ts'
import { noItemsLeft, type Standing } from './standing.ts'

const WHY = {
  'gain-shown': null,
  broken: 'two of its executions failed',
  'gain-ruled-out': 'a gain worth having is ruled out',
  'harm-shown': null,
  'large-gain-ruled-out': 'stopped early: a gain of twice what is worth having is ruled out',
  'large-change-ruled-out': 'stopped: a difference of twice what is worth having is ruled out either way',
  'gain-unlikely': 'stopped early: a gain worth having is unlikely',
  'no-promise-after-job-1': 'stopped early: too little promise after the first job',
  'no-promise-after-job-2': 'stopped early: too little promise after the second job',
  'not-begun': null,
  measuring: null,
  promising: null,
  'job-ended': null,
  'jobs-used-up': 'its jobs are used up',
} as const satisfies Record<EvidenceReason, string | null>

/** What follows the verdict: how much, where the truth lies, and why it ended there (decision.md section 5). */
export function evidenceSentence(paired: PairedCase, standing: Standing): string {
  const said = verdict(standing.primary)
  const effect = effectPhrase(paired, standing, said.effect)
  const parts = [effect, qualifier(paired, standing, said)].filter(part => part !== null)
  return `${parts.length === 0 ? 'nothing was measured' : parts.join('; ')}.`
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
    return `${promising} ${status === 'park' ? 'is promising, and its jobs are used up' : 'is promising'}`
  if (tie !== null) return `${tie} is better (tie-breaker)`
  if (status === 'keep') return keptFor(paired, improved)
  if (status === 'park' && noItemsLeft(paired)) return 'no items are left that were not scored before'
  if (improved.length > 0 && open.length > 0) return `${open.join(', ')} not shown harmless yet`
  return WHY[reason]
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
