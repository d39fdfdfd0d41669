import { turned } from './crossing.ts'
import { type Difference, lnEvidence } from './rank-evidence.ts'

const SHOWN = Math.log(20)

/** Whether a simplification may merge (decision 3.4): it is shown to cost less than min_effect, E(d + theta1) >= 20. */
export function simplificationHolds(differences: readonly Difference[], minEffect: number): boolean {
  return lnEvidence(differences, -minEffect) >= SHOWN
}

/** Whether it is shown to cost more than that, E(-d - theta1) >= 20: then no more pairs are worth it. */
export function simplificationFails(differences: readonly Difference[], minEffect: number): boolean {
  return lnEvidence(turned(differences), minEffect) >= SHOWN
}
