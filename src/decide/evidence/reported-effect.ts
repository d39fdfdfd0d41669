import { confidenceInterval, type Interval } from './confidence-interval.ts'
import { hodgesLehmann } from './hodges-lehmann.ts'
import type { Difference } from './rank-evidence.ts'

export type ReportedEffect = { effect: number | null; interval: Interval | null; pairs: number }

/**
 * The effect to report (decision 3.6): Hodges-Lehmann and 95 % interval of pairs that no stopping rule chose, from
 * one more job after a keep, or the progression test.
 */
export function effectOf(differences: readonly Difference[]): ReportedEffect {
  const effect = hodgesLehmann(differences)
  return {
    effect: Number.isFinite(effect) ? effect : null,
    interval: confidenceInterval(differences),
    pairs: differences.length,
  }
}
