import { findFirstCrossing, reverseDifferences } from './crossing.ts'
import type { Difference } from './rank-evidence.ts'

const GUARDRAIL_SHOWN = 20

/**
 * `forKeeping`: the same with every lost pair as a loss, by which it may be called harmless (decision 039).
 * A guardrail's own differences against its margin (decision 3.4): harmless once E(d + margin) >= 20, harmful
 * once E(-d) >= 20, whichever comes first (both at once: harmful). Open is not harmless: measure on.
 */
export function judgeGuardrail(
  differences: readonly Difference[],
  margin: number,
  forKeeping = differences,
): 'harmless' | 'harmful' | 'open' {
  const harmless = findFirstCrossing(forKeeping, -margin, GUARDRAIL_SHOWN)
  const harmful = findFirstCrossing(reverseDifferences(differences), 0, GUARDRAIL_SHOWN)
  if (harmless < harmful) return 'harmless'
  return Number.isFinite(harmful) ? 'harmful' : 'open'
}
