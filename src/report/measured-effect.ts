import { computeStateEffect } from '../decide/evidence/reported-effect.ts'
import { computeEvidenceVerdict } from '../decide/evidence/verdict.ts'
import type { PairedCase } from '../decide/paired/rule.ts'
import { type PairsEvaluation, evaluatePairs } from '../decide/paired/standing.ts'

/** The effect on the primary that pairs show, as numbers. */
export interface PairedNumbers {
  /** Positive is better; under log a difference of natural logarithms. */
  effect: number | null
  interval: readonly [number, number] | null
  evidence: { reached: number; needed: number }
}

export function computePairedNumbers(
  paired: PairedCase,
  standing: PairsEvaluation = evaluatePairs(paired),
): PairedNumbers {
  const { evidence: reached, threshold: needed } = computeEvidenceVerdict(standing.primary)
  const { effect, interval } = computeStateEffect(standing.primary)
  return { effect, interval, evidence: { reached, needed } }
}
