import { canonicalJson } from '../../model/canonical.ts'
import type { LedgerEvent } from '../../model/event.ts'
import { touchedBetween } from '../facts/touched.ts'
import type { Place } from '../place.ts'

/** What a change is said to touch decides how strictly its variants are tested, so it is found again. */
export async function touchedGaps(
  { repository }: Place,
  { base, candidates, stop }: LedgerEvent<'order-issued'>,
): Promise<string[]> {
  if (stop.rule !== 'paired') return []
  const gaps: string[] = []
  for (const { label, tree } of candidates) {
    const recorded = stop.terms[label]?.touched ?? null
    const here = (await repository.has(base.tree)) && (await repository.has(tree))
    if (recorded === null || !here) continue
    const found = await touchedBetween(repository, base.tree, tree)
    if (canonicalJson(found) !== canonicalJson(recorded)) gaps.push(`${label} does not touch what it says`)
  }
  return gaps
}
