import type { Interval } from './confidence-interval.ts'
import { turned } from './crossing.ts'
import { lnTotal } from './keep-side.ts'
import { type Difference, evidenceOf, lnEvidence } from './rank-evidence.ts'
import { effectIn, estimateOf } from './reported-effect.ts'
import type { Decided, EvidenceState, GivenUp } from './state.ts'

export type EvidenceStatus = 'continue' | 'new-job' | 'keep' | 'drop' | 'park'
export type EvidenceReason =
  | Decided['reason']
  | GivenUp['reason']
  | 'not-begun'
  | 'measuring'
  | 'promising'
  | 'job-ended'
  | 'jobs-used-up'

export type EvidenceStanding = { status: EvidenceStatus; reason: EvidenceReason }

export type EvidenceVerdict = EvidenceStanding & {
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

const HARM_AT = Math.log(20)

/** The status alone: what a job asks after every pair. It costs nothing, unlike `verdict`. */
export function statusOf({ decided, given_up, jobs, rule, screened }: EvidenceState): EvidenceStanding {
  if (decided !== null) return decided
  const current = jobs.at(-1)
  if (current === undefined) return { status: 'new-job', reason: 'not-begun' }
  if (!current.ended) return { status: 'continue', reason: 'measuring' }
  if (given_up !== null) return { status: 'park', reason: given_up.reason }
  if (jobs.length >= rule.max_jobs) return { status: 'park', reason: 'jobs-used-up' }
  return { status: 'new-job', reason: screened?.job === jobs.length - 1 ? 'promising' : 'job-ended' }
}

/** The 95 % interval of all pairs (decision 3.2), by bisection: ask for it only where somebody reads it. */
export function intervalOf(state: Pick<EvidenceState, 'differences' | 'rule'>): Interval | null {
  return effectIn(state).interval
}

/** Whether harm is shown, E(-d) >= 20: worse, and not only unproven. A failed candidate counts as harm. */
export function harmShown(differences: readonly Difference[]): boolean {
  return lnEvidence(turned(differences), 0) >= HARM_AT
}

/** Status, evidence, effect and interval of a state (decision 3.3, 3.6): a pure function of it (invariant 3). */
export function verdict(state: EvidenceState): EvidenceVerdict {
  const { rule, differences, jobs, screened } = state
  const standing = statusOf(state)
  const screening = rule.screen !== null && screened === null
  const effect = estimateOf(state)
  const final = standing.status !== 'continue' && standing.status !== 'new-job'
  return {
    ...standing,
    evidence: evidenceOf(lnTotal(state)),
    threshold: screening ? (rule.screen ?? 1) : 1 / rule.level,
    effect: Number.isFinite(effect) ? effect : null,
    interval: final ? intervalOf(state) : null,
    pairs: differences.length,
    jobs: jobs.length,
    worse: harmShown(differences),
    stage: screening ? 'screening' : 'confirming',
    screened: screened !== null,
  }
}
