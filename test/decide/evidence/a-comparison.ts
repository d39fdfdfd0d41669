import { type EvidencePair, observePair } from '../../../src/decide/evidence/observe.ts'
import {
  type EvidenceOptions,
  type EvidenceState,
  startEvidence,
} from '../../../src/decide/evidence/state.ts'

/** A linear metric to be maximised, so that a difference of d is simply a candidate of d. */
export function begin(options: Partial<EvidenceOptions> = {}): EvidenceState {
  return startEvidence({ direction: 'maximize', scale: 'linear', minEffect: 0.02, ...options })
}

/** A pair whose difference is d; null: the candidate failed. */
export function pairOf(
  d: number | null,
  job: string | number = 1,
  rest: Partial<EvidencePair> = {},
): EvidencePair {
  return { base: 0, candidate: d, job, order: 'base-first', ...rest }
}

/** Differences one after the other in one job. */
export function observed(
  state: EvidenceState,
  differences: readonly (number | null)[],
  job: string | number = 1,
  rest: Partial<EvidencePair> = {},
): EvidenceState {
  return differences.reduce((now: EvidenceState, d) => observePair(now, pairOf(d, job, rest)), state)
}
