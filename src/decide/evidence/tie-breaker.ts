import { type Difference, computeLnEvidence } from './rank-evidence.ts'

export type TieBreak = {
  /** Of the primary. */
  differences: readonly Difference[]
  minEffect: number
  /** Of the tie-breaker itself, signed by its own direction. */
  own: readonly Difference[]
  level: number
}

const TIE_BREAKER_SHOWN = Math.log(20)

/**
 * Whether a tie-breaker may decide (decision 3.4): the primary is shown to lose less than min_effect,
 * E(d + min_effect) >= 20, and the tie-breaker gains, its own E >= 1/alpha_t.
 */
export function isTieBreakerShown({ differences, minEffect, own, level }: TieBreak): boolean {
  return (
    computeLnEvidence(differences, -minEffect) >= TIE_BREAKER_SHOWN &&
    computeLnEvidence(own, 0) >= -Math.log(level)
  )
}
