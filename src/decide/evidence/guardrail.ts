import { firstReached, turned } from './crossing.ts'
import type { Difference } from './rank-evidence.ts'

const SHOWN = 20

/**
 * `forKeeping`: the same with every lost pair as a loss, by which it may be called harmless (decision 039).
 * A guardrail's own differences against its margin (decision 3.4): harmless once E(d + margin) >= 20, harmful
 * once E(-d) >= 20, whichever comes first (both at once: harmful). Open is not harmless: measure on.
 */
export function guardrailVerdict(
  differences: readonly Difference[],
  margin: number,
  forKeeping = differences,
): 'harmless' | 'harmful' | 'open' {
  const harmless = firstReached(forKeeping, -margin, SHOWN)
  const harmful = firstReached(turned(differences), 0, SHOWN)
  if (harmless < harmful) return 'harmless'
  return Number.isFinite(harmful) ? 'harmful' : 'open'
}
