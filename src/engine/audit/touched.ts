import { toCanonicalJson } from '../../model/canonical.ts'
import type { LedgerEvent } from '../../model/event.ts'
import { compareTouchedLines } from '../facts/touched.ts'
import type { CampaignContext } from '../place.ts'

/** What a change is said to touch decides how strictly its variants are tested, so it is found again. */
export async function findTouchedGaps(
  { repository }: CampaignContext,
  { base, candidates, stop }: LedgerEvent<'order-issued'>,
): Promise<string[]> {
  if (stop.rule !== 'paired') return []
  const gaps: string[] = []
  for (const { label, tree } of candidates) {
    const recorded = stop.terms[label]?.touched ?? null
    const here = (await repository.has(base.tree)) && (await repository.has(tree))
    if (recorded === null || !here) continue
    const found = await compareTouchedLines(repository, base.tree, tree)
    if (toCanonicalJson(found) !== toCanonicalJson(recorded))
      gaps.push(`${label} does not touch what it says`)
  }
  return gaps
}
