import { reportedJobs } from '../../model/pairs.ts'
import { isJudged } from '../../spec/judged.ts'
import { simplificationFails, simplificationHolds } from '../evidence/simplification.ts'
import type { EvidenceState } from '../evidence/state.ts'
import { tieBreakerHolds } from '../evidence/tie-breaker.ts'
import { type EvidenceStatus, harmShown, statusOf } from '../evidence/verdict.ts'
import { objectivesOf } from '../objectives.ts'
import { tieBreakersOf } from '../tie-breakers.ts'
import { differencesForKeeping, hasLogarithms, metricPairs } from './metric-pairs.ts'
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
  /** The required objective that goes on where the primary has dropped. */
  promising: string | null
}

interface Parts extends Omit<Standing, 'status' | 'tie' | 'promising'> {
  /** A required objective besides the primary that has screened and is not decided. */
  other: { name: string; state: EvidenceState } | null
}

/** A value without a logarithm, where the campaign's scale was pinned to log: nothing can be compared any more. */
export function offScale({ spec, rule, jobs }: PairedCase): string | null {
  const { name } = spec.metric.primary
  return rule.scale === 'log' && !hasLogarithms(metricPairs(jobs, name)) ? name : null
}

export function standingOf(paired: PairedCase): Standing {
  const standing = standingWithItems(paired)
  return standing.status === 'new-job' && noItemsLeft(paired) ? { ...standing, status: 'park' } : standing
}

/**
 * Every item of the base was scored in an earlier sample: another job would measure, and compare nothing. Before the first
 * there was none: where that has no pair, models gave no scores.
 */
export function noItemsLeft({ spec, jobs }: Pick<PairedCase, 'spec' | 'jobs'>): boolean {
  const [, ...later] = jobs
  const last = later.at(-1)
  return isJudged(spec) && last?.complete === true && last.pairs.every(({ base }) => base === null)
}

function standingWithItems(paired: PairedCase): Standing {
  const parts = partsOf(paired)
  const { other, ...known } = parts
  const standing = { ...known, tie: null, promising: null }
  if (paired.terms.as === 'simplify') return { ...standing, ...simplifying(paired, parts) }
  const gained = parts.improved.length > 0
  const dropped = !gained && hasEnded(parts)
  const searching = !dropped && parts.primary.given_up === null
  const tie = gained || searching ? null : wonTie(paired, parts)
  if (gained || tie !== null) return { ...standing, status: guarded(paired, parts), tie }
  if (!dropped || other === null || isSettled(parts)) return { ...standing, status: endOf(parts) }
  return { ...standing, status: statusOf(other.state).status, promising: other.name }
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
    other: all.slice(1).find(({ state }) => state.screened !== null && state.decided === null) ?? null,
  }
}

/** The primary needs no more pairs: it is dropped, or given up. */
function hasEnded({ primary }: Parts): boolean {
  const { status } = statusOf(primary)
  return status === 'drop' || (status === 'park' && primary.given_up !== null)
}

/** An idea that is given up and shown to harm another metric is worse, and not merely unproven. */
function endOf(parts: Parts): EvidenceStatus {
  const { status } = statusOf(parts.primary)
  return status === 'park' && hasEnded(parts) && parts.harmed.length > 0 ? 'drop' : status
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
  return reportedJobs(jobs).length < maxJobs ? 'new-job' : 'park'
}

/** The primary drives stopping; where it has dropped, another objective may only go on if nothing speaks against it. */
function isSettled({ primary, harmed }: Parts): boolean {
  return harmed.length > 0 || statusOf(primary).reason === 'broken'
}

function wonTie({ spec, rule, terms, jobs }: PairedCase, { primary, harmed }: Parts): string | null {
  if (harmed.length > 0) return null
  const won = tieBreakersOf(spec.policy).find(({ name, direction }) => {
    const pairs = metricPairs(jobs, name)
    const own = differencesForKeeping(jobs, name, { direction, scale: scaleFor(rule, pairs) })
    const differences = differencesForKeeping(jobs, spec.metric.primary.name, primary.rule)
    return tieBreakerHolds({ differences, minEffect: rule.min_effect, own, level: terms.level })
  })
  return won?.name ?? null
}

/**
 * Less code for the same speed: it merges when it is shown to cost less than min_effect. That it costs something
 * at all, even if that is shown too, is what the campaign has a budget for.
 */
function simplifying(
  { spec, rule, terms, jobs }: PairedCase,
  { primary, harmed, open }: Parts,
): Pick<Standing, 'status' | 'harmed'> {
  const others = harmed.filter(name => name !== spec.metric.primary.name)
  const fails = simplificationFails(primary.differences, rule.min_effect)
  if (others.length > 0 || fails || statusOf(primary).reason === 'broken') return { status: 'drop', harmed }
  const forKeeping = differencesForKeeping(jobs, spec.metric.primary.name, primary.rule)
  const holds = simplificationHolds(forKeeping, rule.min_effect)
  if (holds && open.length === 0) return { status: 'keep', harmed: [] }
  return { status: more(terms.max_jobs, jobs), harmed }
}
