import { toFinite } from '../../model/report.ts'
import { computeStateEffect, estimateEffect, type Interval } from './interval.ts'
import { computeLnTotal } from './observe.ts'
import {
  computeLnEvidence,
  type Difference,
  findFirstCrossing,
  reverseDifferences,
  toEvidence,
} from './rank-test.ts'
import type { EvidenceDecision, EvidenceState, GiveUp } from './state.ts'

export type EvidenceStatus = 'continue' | 'new-job' | 'keep' | 'drop' | 'not-proven'
export type EvidenceReason =
  | EvidenceDecision['reason']
  | GiveUp['reason']
  | 'not-begun'
  | 'measuring'
  | 'promising'
  | 'job-ended'
  | 'jobs-used-up'

export type EvidenceProgress = { status: EvidenceStatus; reason: EvidenceReason }

export type EvidenceVerdict = EvidenceProgress & {
  evidence: number
  /** The evidence to reach: the screen, then 1/alpha_t. */
  threshold: number
  /** Hodges-Lehmann of all pairs, positive is better; null without a finite one. */
  effect: number | null
  /** Only with a final status, and null when it is unbounded. */
  interval: Interval | null
  pairs: number
  jobs: number
  /** Harm is shown: E(-d) >= 20. */
  worse: boolean
  stage: 'screening' | 'confirming'
  screened: boolean
}

/** Evidence at which one of the questions below is answered. */
const SHOWN = 20
const LN_SHOWN = Math.log(SHOWN)

/** The status alone, which a job reads after every pair. Cheap, unlike `computeEvidenceVerdict`. */
export function getEvidenceStatus(state: EvidenceState): EvidenceProgress {
  const { decided, given_up, jobs, rule, screened } = state
  if (decided !== null) return decided
  const current = jobs.at(-1)
  if (current === undefined) return { status: 'new-job', reason: 'not-begun' }
  if (!current.ended) return { status: 'continue', reason: 'measuring' }
  if (given_up !== null) return { status: 'not-proven', reason: given_up.reason }
  if (jobs.length >= rule.max_jobs) return { status: 'not-proven', reason: 'jobs-used-up' }
  return { status: 'new-job', reason: screened?.job === jobs.length - 1 ? 'promising' : 'job-ended' }
}

/** The 95 % interval of all pairs, by bisection: expensive, so compute it only for display. */
export function computeInterval(state: Pick<EvidenceState, 'differences' | 'rule'>): Interval | null {
  return computeStateEffect(state).interval
}

/** Whether harm is shown, E(-d) >= 20: worse, and not only unproven. A failed candidate counts as harm. */
export function isHarmShown(differences: readonly Difference[]): boolean {
  return computeLnEvidence(reverseDifferences(differences), 0) >= LN_SHOWN
}

/** Decision 3.3, 3.6. */
export function computeEvidenceVerdict(state: EvidenceState): EvidenceVerdict {
  const { rule, differences, jobs, screened } = state
  const progress = getEvidenceStatus(state)
  const screening = rule.screen !== null && screened === null
  const effect = estimateEffect(state)
  const final = progress.status !== 'continue' && progress.status !== 'new-job'
  return {
    ...progress,
    evidence: toEvidence(computeLnTotal(state)),
    threshold: screening ? (rule.screen ?? 1) : 1 / rule.level,
    effect: toFinite(effect),
    interval: final ? computeInterval(state) : null,
    pairs: differences.length,
    jobs: jobs.length,
    worse: isHarmShown(differences),
    stage: screening ? 'screening' : 'confirming',
    screened: screened !== null,
  }
}

/** `at`: index of the last pair with a difference, which a lost pair has not. */
export type KeepDifference = { difference: Difference; at: number }

export type GuardrailTerms = {
  /** With every lost pair as a loss: only by these differences can it be harmless (decision 039). */
  forKeeping?: readonly KeepDifference[]
  /** Number of tests. One failure counts as harm, so each test needs this many times the evidence. */
  tests?: number
  /** The margin is a loss that the spec allows: if both are shown at once, it is harmless. */
  allowsLoss?: boolean
}

/**
 * Judges a guardrail's own differences against its margin: harmless once E(d + margin) >= 20,
 * harmful once E(-d) >= 20, whichever comes first (both at once: harmful). Open is not harmless: measure on.
 */
export function judgeGuardrail(
  differences: readonly Difference[],
  margin: number,
  terms: GuardrailTerms = {},
): 'harmless' | 'harmful' | 'open' {
  const { tests = 1, allowsLoss = false } = terms
  const { forKeeping = differences.map((difference, at) => ({ difference, at })) } = terms
  const kept = forKeeping.map(({ difference }) => difference)
  const harmless = forKeeping[findFirstCrossing(kept, -margin, SHOWN)]?.at ?? Number.POSITIVE_INFINITY
  const harmful = findFirstCrossing(reverseDifferences(differences), 0, SHOWN * tests)
  if (harmless < harmful || (allowsLoss && harmless === harmful && harmful < Infinity)) return 'harmless'
  return Number.isFinite(harmful) ? 'harmful' : 'open'
}

const REVERT_AT = 100

/**
 * A merge measured again, tip against the tree before it: revert once E(-d) >= 100, clear once
 * E(d + theta1) >= 20, by the first of the two. Open until then, and continued with the next job's pairs.
 */
export function checkRegression(
  differences: readonly Difference[],
  minEffect: number,
): 'revert' | 'clear' | 'open' {
  const revert = findFirstCrossing(reverseDifferences(differences), 0, REVERT_AT)
  const clear = findFirstCrossing(differences, -minEffect, SHOWN)
  if (clear < revert) return 'clear'
  return Number.isFinite(revert) ? 'revert' : 'open'
}

/** A simplification may merge that is shown to cost less than min_effect, E(d + theta1) >= 20. */
export function isSimplificationShown(differences: readonly Difference[], minEffect: number): boolean {
  return computeLnEvidence(differences, -minEffect) >= LN_SHOWN
}

/** Whether it is shown to cost more than that, E(-d - theta1) >= 20: then no more pairs are worth it. */
export function isSimplificationRefuted(differences: readonly Difference[], minEffect: number): boolean {
  return computeLnEvidence(reverseDifferences(differences), minEffect) >= LN_SHOWN
}

export type TieBreak = {
  differences: readonly Difference[]
  minEffect: number
  /** Differences of the tie-breaker itself, signed by its own direction. */
  own: readonly Difference[]
  level: number
}

/**
 * Whether a tie-breaker may decide: the primary is shown to lose less than min_effect, E(d +
 * min_effect) >= 20, and the tie-breaker gains, its own E >= 1/alpha_t.
 */
export function isTieBreakerShown({ differences, minEffect, own, level }: TieBreak): boolean {
  return (
    computeLnEvidence(differences, -minEffect) >= LN_SHOWN && computeLnEvidence(own, 0) >= -Math.log(level)
  )
}

/** Identifies variants of one idea; `lines` are the changed lines, each with its file. */
export type IdeaVariant = { family?: string | null; files: readonly string[]; lines: readonly string[] }

const FAMILY_OVERLAP = 0.6

/**
 * Whether two ideas are one family: declared so, or with equal files and at least 60 % overlap
 * of the changed lines. Overlap counts from the smaller change, so that padding does not make a new idea.
 */
export function isSameFamily(a: IdeaVariant, b: IdeaVariant): boolean {
  if (typeof a.family === 'string' && a.family === b.family) return true
  const [files, otherFiles] = [new Set(a.files), new Set(b.files)]
  if (files.size !== otherFiles.size || a.files.some(file => !otherFiles.has(file))) return false
  const lines = new Set(a.lines)
  const others = new Set(b.lines)
  const smaller = Math.min(lines.size, others.size)
  const shared = [...lines].filter(line => others.has(line)).length
  return smaller > 0 && shared >= FAMILY_OVERLAP * smaller
}
