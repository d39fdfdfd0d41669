import { reverseDifferences } from './crossing.ts'
import { type Difference, computeLnEvidence } from './rank-evidence.ts'

const SIMPLIFICATION_SHOWN = Math.log(20)

/** Whether a simplification may merge (decision 3.4): it is shown to cost less than min_effect, E(d + theta1) >= 20. */
export function isSimplificationShown(differences: readonly Difference[], minEffect: number): boolean {
  return computeLnEvidence(differences, -minEffect) >= SIMPLIFICATION_SHOWN
}

/** Whether it is shown to cost more than that, E(-d - theta1) >= 20: then no more pairs are worth it. */
export function isSimplificationRefuted(differences: readonly Difference[], minEffect: number): boolean {
  return computeLnEvidence(reverseDifferences(differences), minEffect) >= SIMPLIFICATION_SHOWN
}
