import { findFirstCrossing, reverseDifferences } from './crossing.ts'
import type { Difference } from './rank-evidence.ts'

const REVERT_AT = 100
const CLEAR_AT = 20

/**
 * A merge measured again, tip against the tree before it (decision 3.7): revert once E(-d) >= 100, clear once
 * E(d + theta1) >= 20, whichever comes first; open until then, and continued with the next job's pairs.
 */
export function checkRegression(
  differences: readonly Difference[],
  minEffect: number,
): 'revert' | 'clear' | 'open' {
  const revert = findFirstCrossing(reverseDifferences(differences), 0, REVERT_AT)
  const clear = findFirstCrossing(differences, -minEffect, CLEAR_AT)
  if (clear < revert) return 'clear'
  return Number.isFinite(revert) ? 'revert' : 'open'
}
