import { selectReportedJobs } from '../../model/pairs.ts'
import { isJudgedMetric } from '../../spec/judged.ts'
import { isSimplificationRefuted, isSimplificationShown } from '../evidence/simplification.ts'
import type { EvidenceState } from '../evidence/state.ts'
import { isTieBreakerShown } from '../evidence/tie-breaker.ts'
import { type EvidenceStatus, isHarmShown, getEvidenceStatus } from '../evidence/verdict.ts'
import { listObjectives } from '../objectives.ts'
import { listTieBreakers } from '../tie-breakers.ts'
import { computeKeepDifferences, hasLogarithms, collectMetricPairs } from './metric-pairs.ts'
import { computeObjectiveEvidence, evaluateGuardrail, selectScale } from './objective-evidence.ts'
import type { PairedCase } from './rule.ts'

/** Where one candidate stands after its pairs so far: asked after every pair in a job, and for the verdict. */
export interface PairsEvaluation {
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

interface EvaluationParts extends Omit<PairsEvaluation, 'status' | 'tie' | 'promising'> {
  /** A required objective besides the primary that has screened and is not decided. */
  other: { name: string; state: EvidenceState } | null
}

/** A value without a logarithm, where the campaign's scale was pinned to log: nothing can be compared any more. */
export function findOffScaleMetric({ spec, rule, jobs }: PairedCase): string | null {
  const { name } = spec.metric.primary
  return rule.scale === 'log' && !hasLogarithms(collectMetricPairs(jobs, name)) ? name : null
}

export function evaluatePairs(paired: PairedCase): PairsEvaluation {
  const standing = evaluateMeasuredPairs(paired)
  return standing.status === 'new-job' && hasNoItemsLeft(paired) ? { ...standing, status: 'park' } : standing
}

/**
 * Every item of the base was scored in an earlier sample: another job would measure, and compare nothing. Before the first
 * there was none: where that has no pair, models gave no scores.
 */
export function hasNoItemsLeft({ spec, jobs }: Pick<PairedCase, 'spec' | 'jobs'>): boolean {
  const [, ...later] = jobs
  const last = later.at(-1)
  return isJudgedMetric(spec) && last?.complete === true && last.pairs.every(({ base }) => base === null)
}

function evaluateMeasuredPairs(paired: PairedCase): PairsEvaluation {
  const parts = evaluateParts(paired)
  const { other, ...known } = parts
  const standing = { ...known, tie: null, promising: null }
  if (paired.terms.as === 'simplify') return { ...standing, ...evaluateSimplification(paired, parts) }
  const gained = parts.improved.length > 0
  const dropped = !gained && hasEnded(parts)
  const searching = !dropped && parts.primary.given_up === null
  const tie = gained || searching ? null : findWonTieBreaker(paired, parts)
  if (gained || tie !== null) return { ...standing, status: getGuardedStatus(paired, parts), tie }
  if (!dropped || other === null || hasSettled(parts)) return { ...standing, status: getEndStatus(parts) }
  return { ...standing, status: getEvidenceStatus(other.state).status, promising: other.name }
}

function evaluateParts(paired: PairedCase): EvaluationParts {
  const objectives = listObjectives(paired.spec.metric)
  const required = objectives.filter(({ role }) => role === 'required')
  const all = required.map(objective => ({
    name: objective.name,
    state: computeObjectiveEvidence(paired, objective),
  }))
  const guardrails = objectives
    .filter(({ role }) => role === 'guardrail')
    .map(guardrail => ({ name: guardrail.name, is: evaluateGuardrail(paired, guardrail) }))
  const worse = all.filter(({ state }) => isHarmShown(state.differences))
  return {
    primary: all[0]?.state ?? computeObjectiveEvidence(paired, objectives[0]),
    improved: all.filter(({ state }) => getEvidenceStatus(state).status === 'keep').map(({ name }) => name),
    harmed: [...worse, ...guardrails.filter(({ is }) => is === 'harmful')].map(({ name }) => name),
    open: guardrails.filter(({ is }) => is === 'open').map(({ name }) => name),
    other: all.slice(1).find(({ state }) => state.screened !== null && state.decided === null) ?? null,
  }
}

/** The primary needs no more pairs: it is dropped, or given up. */
function hasEnded({ primary }: EvaluationParts): boolean {
  const { status } = getEvidenceStatus(primary)
  return status === 'drop' || (status === 'park' && primary.given_up !== null)
}

/** An idea that is given up and shown to harm another metric is worse, and not merely unproven. */
function getEndStatus(parts: EvaluationParts): EvidenceStatus {
  const { status } = getEvidenceStatus(parts.primary)
  return status === 'park' && hasEnded(parts) && parts.harmed.length > 0 ? 'drop' : status
}

/** A gain counts for nothing beside a harm that is shown, and not yet beside one that is not excluded. */
function getGuardedStatus({ terms, jobs }: PairedCase, { harmed, open }: EvaluationParts): EvidenceStatus {
  if (harmed.length > 0) return 'drop'
  if (open.length === 0) return 'keep'
  return getContinueStatus(terms.max_jobs, jobs)
}

function getContinueStatus(maxJobs: number, jobs: PairedCase['jobs']): EvidenceStatus {
  const last = jobs.at(-1)
  if (last !== undefined && !last.complete) return 'continue'
  return selectReportedJobs(jobs).length < maxJobs ? 'new-job' : 'park'
}

/** The primary drives stopping; where it has dropped, another objective may only go on if nothing speaks against it. */
function hasSettled({ primary, harmed }: EvaluationParts): boolean {
  return harmed.length > 0 || getEvidenceStatus(primary).reason === 'broken'
}

function findWonTieBreaker(
  { spec, rule, terms, jobs }: PairedCase,
  { primary, harmed }: EvaluationParts,
): string | null {
  if (harmed.length > 0) return null
  const won = listTieBreakers(spec.policy).find(({ name, direction }) => {
    const pairs = collectMetricPairs(jobs, name)
    const own = computeKeepDifferences(jobs, name, { direction, scale: selectScale(rule, pairs) })
    const differences = computeKeepDifferences(jobs, spec.metric.primary.name, primary.rule)
    return isTieBreakerShown({ differences, minEffect: rule.min_effect, own, level: terms.level })
  })
  return won?.name ?? null
}

/**
 * Less code for the same speed: it merges when it is shown to cost less than min_effect. That it costs something
 * at all, even if that is shown too, is what the campaign has a budget for.
 */
function evaluateSimplification(
  { spec, rule, terms, jobs }: PairedCase,
  { primary, harmed, open }: EvaluationParts,
): Pick<PairsEvaluation, 'status' | 'harmed'> {
  const others = harmed.filter(name => name !== spec.metric.primary.name)
  const fails = isSimplificationRefuted(primary.differences, rule.min_effect)
  if (others.length > 0 || fails || getEvidenceStatus(primary).reason === 'broken')
    return { status: 'drop', harmed }
  const forKeeping = computeKeepDifferences(jobs, spec.metric.primary.name, primary.rule)
  const holds = isSimplificationShown(forKeeping, rule.min_effect)
  if (holds && open.length === 0) return { status: 'keep', harmed: [] }
  return { status: getContinueStatus(terms.max_jobs, jobs), harmed }
}
