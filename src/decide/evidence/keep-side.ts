import { lnMean, NO_BETS, placing, raised } from './rank-evidence.ts'
import type { EvidenceState, KeepSide } from './state.ts'
import { lnVarianceRatio, NO_SUMS, summed } from './variance-prior.ts'

/** The keep side after the newest difference of the state. */
export function keepSideRaised({ rule, differences, keep }: EvidenceState): KeepSide {
  const { from, ln, sums } = keep
  const { noise, null_effect } = rule
  const newest = differences.at(-1) ?? null
  if (rule.graded && newest === 0) return keep
  const own = rule.graded ? differences.slice(from).filter(each => each !== 0) : differences
  return {
    from,
    ln: raised(ln, placing(own, rule.graded ? 0 : from, null_effect)),
    sums: noise === null ? null : summed(sums, newest, { ...rule, noise }),
  }
}

/**
 * The keep side after a pair of unknown difference: as if that had been the largest loss so far. No pair could have
 * lowered it more, so that it stays an e-process whoever chose which pair is lost.
 */
export function withLoss({ differences, keep }: EvidenceState): KeepSide {
  const pairs = differences.length - keep.from + 1
  return { from: keep.from, ln: raised(keep.ln, (-2 * pairs) / (pairs + 1)), sums: null }
}

/** After the screen ranks and sums start again; what was gathered is carried as one number. */
export function keepSideAnew({ rule, differences }: EvidenceState): KeepSide {
  return { from: differences.length, ln: NO_BETS, sums: rule.noise === null ? null : NO_SUMS }
}

/** ln E since the screen: the rank process, or under the hybrid its weighted mean with the likelihood ratio. */
export function lnStage({ rule, keep }: EvidenceState): number {
  const rank = lnMean(keep.ln)
  if (rule.noise === null) return rank
  const ranked = rank + Math.log(1 - rule.ratio_share)
  if (keep.sums === null) return ranked
  const ratio = lnVarianceRatio(keep.sums, rule.noise) + Math.log(rule.ratio_share)
  return lnMean([ranked, ratio]) + Math.LN2
}

/** ln E_total = ln E_screen + ln E_fresh (decision 3.3). */
export function lnTotal(state: EvidenceState): number {
  return (state.screened?.ln ?? 0) + lnStage(state)
}
