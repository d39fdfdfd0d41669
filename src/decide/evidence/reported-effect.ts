import { computeConfidenceInterval, type Interval } from './confidence-interval.ts'
import { estimateHodgesLehmann } from './hodges-lehmann.ts'
import type { Difference } from './rank-evidence.ts'
import type { EvidenceState } from './state.ts'
import { computeScoreInterval, computeScoreMean, type ScoreTerms } from './scores.ts'

export type EffectEstimate = { effect: number | null; interval: Interval | null; pairs: number }

/** Its estimate alone, which costs less: NaN without a pair. */
export function estimateEffect({ differences, rule }: Pick<EvidenceState, 'differences' | 'rule'>): number {
  return rule.graded
    ? computeScoreMean(differences, { minEffect: rule.min_effect })
    : estimateHodgesLehmann(differences)
}

/** The effect of all pairs so far, as its own rule estimates it. */
export function computeStateEffect({
  differences,
  rule,
}: Pick<EvidenceState, 'differences' | 'rule'>): EffectEstimate {
  return computeReportedEffect(differences, rule.graded ? { minEffect: rule.min_effect } : null)
}

/**
 * The effect to report (decision 3.6): Hodges-Lehmann and 95 % interval of pairs that no stopping rule chose, from
 * one more job after a keep, or the progression test.
 */
export function computeReportedEffect(
  differences: readonly Difference[],
  /** Where they are differences of scores: their mean. */
  scores: ScoreTerms | null = null,
): EffectEstimate {
  const effect = scores === null ? estimateHodgesLehmann(differences) : computeScoreMean(differences, scores)
  return {
    effect: Number.isFinite(effect) ? effect : null,
    interval:
      scores === null ? computeConfidenceInterval(differences) : computeScoreInterval(differences, scores),
    pairs: differences.length,
  }
}
