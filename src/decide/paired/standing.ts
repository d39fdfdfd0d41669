import { simplificationHolds } from '../evidence/simplification.ts'
import type { EvidenceState } from '../evidence/state.ts'
import { tieBreakerHolds } from '../evidence/tie-breaker.ts'
import { type EvidenceStatus, harmShown, statusOf } from '../evidence/verdict.ts'
import { objectivesOf } from '../objectives.ts'
import { tieBreakersOf } from '../tie-breakers.ts'
import { differencesOf, hasLogarithms, metricPairs } from './metric-pairs.ts'
import { evidenceFor, guardrailStanding, scaleFor } from './objective-evidence.ts'
import type { PairedCase } from './rule.ts'

/** Where one candidate stands after its pairs so far: asked after every pair in a job, and for the verdict. */
export interface Standing {
  status: EvidenceStatus
  primary: EvidenceState
  /** Required objectives that are shown to gain. */
  improved: string[]
  /** Required objectives and guardrails that are shown to lose. */
  harmed: string[]
  /** Guardrails that are not shown harmless yet. */
  open: string[]
  /** The tie-breaker that decided, if one did. */
  tie: string | null
}

interface Parts extends Omit<Standing, 'status' | 'tie'> {
  /** Required objectives besides the primary that have screened and are worth another job. */
  promising: boolean
}

/** A value without a logarithm, where the campaign's scale was pinned to log: nothing can be compared any more. */
export function offScale({ spec, rule, jobs }: PairedCase): string | null {
  const { name } = spec.metric.primary
  return rule.scale === 'log' && !hasLogarithms(metricPairs(jobs, name)) ? name : null
}

export function standingOf(paired: PairedCase): Standing {
  const parts = partsOf(paired)
  const { promising: _, ...standing } = parts
  if (paired.terms.as === 'simplify') return { ...standing, status: simplifying(paired, parts), tie: null }
  const gained = parts.improved.length > 0
  const tie = gained || !hasDropped(parts) ? null : wonTie(paired, parts)
  if (gained || tie !== null) return { ...standing, status: guarded(paired, parts), tie }
  return { ...standing, status: withoutGain(parts), tie }
}

function partsOf(paired: PairedCase): Parts {
  const objectives = objectivesOf(paired.spec.metric)
  const required = objectives.filter(({ role }) => role === 'required')
  const all = required.map(objective => ({ name: objective.name, state: evidenceFor(paired, objective) }))
  const guardrails = objectives
    .filter(({ role }) => role === 'guardrail')
    .map(guardrail => ({ name: guardrail.name, is: guardrailStanding(paired, guardrail) }))
  const worse = all.filter(({ state }) => harmShown(state.differences))
  return {
    primary: all[0]?.state ?? evidenceFor(paired, objectives[0]),
    improved: all.filter(({ state }) => statusOf(state).status === 'keep').map(({ name }) => name),
    harmed: [...worse, ...guardrails.filter(({ is }) => is === 'harmful')].map(({ name }) => name),
    open: guardrails.filter(({ is }) => is === 'open').map(({ name }) => name),
    promising: all.slice(1).some(({ state }) => state.screened !== null && state.decided === null),
  }
}

function hasDropped({ primary }: Parts): boolean {
  return statusOf(primary).status === 'drop'
}

/** A gain counts for nothing beside a harm that is shown, and not yet beside one that is not excluded. */
function guarded({ terms, jobs }: PairedCase, { harmed, open }: Parts): EvidenceStatus {
  if (harmed.length > 0) return 'drop'
  if (open.length === 0) return 'keep'
  return more(terms.max_jobs, jobs)
}

function more(maxJobs: number, jobs: PairedCase['jobs']): EvidenceStatus {
  const last = jobs.at(-1)
  if (last !== undefined && !last.complete) return 'continue'
  return jobs.length < maxJobs ? 'new-job' : 'park'
}

/** The primary drives stopping, unless another required objective has screened already. */
function withoutGain({ primary, promising, harmed }: Parts): EvidenceStatus {
  const { status, reason } = statusOf(primary)
  if (status !== 'drop' || reason === 'broken') return status
  return promising && harmed.length === 0 ? 'new-job' : 'drop'
}

function wonTie({ spec, rule, terms, jobs }: PairedCase, { primary, harmed }: Parts): string | null {
  if (harmed.length > 0) return null
  const won = tieBreakersOf(spec.policy).find(({ name, direction }) => {
    const pairs = metricPairs(jobs, name)
    const own = differencesOf(pairs, { direction, scale: scaleFor(rule, pairs) })
    const { differences } = primary
    return tieBreakerHolds({ differences, minEffect: rule.min_effect, own, level: terms.level })
  })
  return won?.name ?? null
}

/** Less code for the same speed: it merges when it is shown to cost less than min_effect. */
function simplifying({ rule, terms, jobs }: PairedCase, { primary, harmed, open }: Parts): EvidenceStatus {
  if (harmed.length > 0 || statusOf(primary).reason === 'broken') return 'drop'
  const holds = simplificationHolds(primary.differences, rule.min_effect)
  return holds && open.length === 0 ? 'keep' : more(terms.max_jobs, jobs)
}
