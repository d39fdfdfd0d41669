import type { Interval } from './confidence-interval.ts'
import { reverseDifferences } from './crossing.ts'
import { computeLnTotal } from './keep-side.ts'
import { type Difference, toEvidence, computeLnEvidence } from './rank-evidence.ts'
import { computeStateEffect, estimateEffect } from './reported-effect.ts'
import type { EvidenceDecision, EvidenceState, GiveUp } from './state.ts'

export type EvidenceStatus = 'continue' | 'new-job' | 'keep' | 'drop' | 'park'
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
  /** E_total. */
  evidence: number
  /** What it has to reach: the screen, then 1/alpha_t. */
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

const HARM_SHOWN = Math.log(20)

/** The status alone: what a job asks after every pair. It costs nothing, unlike `verdict`. */
export function getEvidenceStatus({
  decided,
  given_up,
  jobs,
  rule,
  screened,
}: EvidenceState): EvidenceProgress {
  if (decided !== null) return decided
  const current = jobs.at(-1)
  if (current === undefined) return { status: 'new-job', reason: 'not-begun' }
  if (!current.ended) return { status: 'continue', reason: 'measuring' }
  if (given_up !== null) return { status: 'park', reason: given_up.reason }
  if (jobs.length >= rule.max_jobs) return { status: 'park', reason: 'jobs-used-up' }
  return { status: 'new-job', reason: screened?.job === jobs.length - 1 ? 'promising' : 'job-ended' }
}

/** The 95 % interval of all pairs (decision 3.2), by bisection: ask for it only where somebody reads it. */
export function computeInterval(state: Pick<EvidenceState, 'differences' | 'rule'>): Interval | null {
  return computeStateEffect(state).interval
}

/** Whether harm is shown, E(-d) >= 20: worse, and not only unproven. A failed candidate counts as harm. */
export function isHarmShown(differences: readonly Difference[]): boolean {
  return computeLnEvidence(reverseDifferences(differences), 0) >= HARM_SHOWN
}

/** Status, evidence, effect and interval of a state (decision 3.3, 3.6): a pure function of it (invariant 3). */
export function computeEvidenceVerdict(state: EvidenceState): EvidenceVerdict {
  const { rule, differences, jobs, screened } = state
  const standing = getEvidenceStatus(state)
  const screening = rule.screen !== null && screened === null
  const effect = estimateEffect(state)
  const final = standing.status !== 'continue' && standing.status !== 'new-job'
  return {
    ...standing,
    evidence: toEvidence(computeLnTotal(state)),
    threshold: screening ? (rule.screen ?? 1) : 1 / rule.level,
    effect: Number.isFinite(effect) ? effect : null,
    interval: final ? computeInterval(state) : null,
    pairs: differences.length,
    jobs: jobs.length,
    worse: isHarmShown(differences),
    stage: screening ? 'screening' : 'confirming',
    screened: screened !== null,
  }
}
