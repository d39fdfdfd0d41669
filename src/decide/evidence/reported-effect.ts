import { confidenceInterval, type Interval } from './confidence-interval.ts'
import { hodgesLehmann } from './hodges-lehmann.ts'
import type { Difference } from './rank-evidence.ts'
import type { EvidenceState } from './state.ts'
import { intervalOfScores, meanOfScores, type ScoreTerms } from './scores.ts'

export type ReportedEffect = { effect: number | null; interval: Interval | null; pairs: number }

/** Its estimate alone, which costs less: NaN without a pair. */
export function estimateOf({ differences, rule }: Pick<EvidenceState, 'differences' | 'rule'>): number {
  return rule.graded ? meanOfScores(differences, { minEffect: rule.min_effect }) : hodgesLehmann(differences)
}

/** The effect of all pairs so far, as its own rule estimates it. */
export function effectIn({ differences, rule }: Pick<EvidenceState, 'differences' | 'rule'>): ReportedEffect {
  return effectOf(differences, rule.graded ? { minEffect: rule.min_effect } : null)
}

/**
 * The effect to report (decision 3.6): Hodges-Lehmann and 95 % interval of pairs that no stopping rule chose, from
 * one more job after a keep, or the progression test.
 */
export function effectOf(
  differences: readonly Difference[],
  /** Where they are differences of scores: their mean. */
  scores: ScoreTerms | null = null,
): ReportedEffect {
  const effect = scores === null ? hodgesLehmann(differences) : meanOfScores(differences, scores)
  return {
    effect: Number.isFinite(effect) ? effect : null,
    interval: scores === null ? confidenceInterval(differences) : intervalOfScores(differences, scores),
    pairs: differences.length,
  }
}
