import type { Campaign } from '../../src/model/campaign.ts'
import type { Outcome } from '../../src/model/verdict.ts'

/** How many experiments ended in each way; those that land by a merge count once they are decided. */
export function outcomeCounts({
  experiments,
}: Pick<Campaign, 'experiments'>): Partial<Record<Outcome, number>> {
  const counts: Partial<Record<Outcome, number>> = {}
  for (const { outcome, status } of Object.values(experiments))
    if (outcome !== null && status === 'ended') counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}
