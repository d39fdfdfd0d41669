import { computeLnMean, NO_BETS, computeSignedRank, updateBets } from './rank-evidence.ts'
import type { EvidenceState, KeepSide } from './state.ts'
import { computeLnVarianceRatio, NO_SUMS, addToSums } from './variance-prior.ts'

/** The keep side after the newest difference of the state. */
export function updateKeepSide({ rule, differences, keep }: EvidenceState): KeepSide {
  const { from, ln, sums } = keep
  const { noise, null_effect } = rule
  const newest = differences.at(-1) ?? null
  if (rule.graded && newest === 0) return keep
  const own = rule.graded ? differences.slice(from).filter(each => each !== 0) : differences
  return {
    from,
    ln: updateBets(ln, computeSignedRank(own, rule.graded ? 0 : from, null_effect)),
    sums: noise === null ? null : addToSums(sums, newest, { ...rule, noise }),
  }
}

/**
 * The keep side after a pair of unknown difference: as if that had been the largest loss so far. No pair could have
 * lowered it more, so that it stays an e-process whoever chose which pair is lost.
 */
export function addLoss({ differences, keep }: EvidenceState): KeepSide {
  const pairs = differences.length - keep.from + 1
  return { from: keep.from, ln: updateBets(keep.ln, (-2 * pairs) / (pairs + 1)), sums: null }
}

/** After the screen ranks and sums start again; what was gathered is carried as one number. */
export function restartKeepSide({ rule, differences }: EvidenceState): KeepSide {
  return { from: differences.length, ln: NO_BETS, sums: rule.noise === null ? null : NO_SUMS }
}

/** ln E since the screen: the rank process, or under the hybrid its weighted mean with the likelihood ratio. */
export function computeLnStage({ rule, keep }: EvidenceState): number {
  const rank = computeLnMean(keep.ln)
  if (rule.noise === null) return rank
  const ranked = rank + Math.log(1 - rule.ratio_share)
  if (keep.sums === null) return ranked
  const ratio = computeLnVarianceRatio(keep.sums, rule.noise) + Math.log(rule.ratio_share)
  return computeLnMean([ranked, ratio]) + Math.LN2
}

/** ln E_total = ln E_screen + ln E_fresh (decision 3.3). */
export function computeLnTotal(state: EvidenceState): number {
  return (state.screened?.ln ?? 0) + computeLnStage(state)
}
