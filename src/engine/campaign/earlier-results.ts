import { type PriorResult, toPriorResults } from '../../ideas/prior-results.ts'
import { loadCampaign } from '../../ledger/load.ts'
import { LedgerError, UserError } from '../../errors.ts'
import type { Oid } from '../../model/ids.ts'
import type { CampaignContext } from './context.ts'

const MOST_LEDGERS = 20

/** Results of the other campaigns of this repository, then of archived ones. */
export async function readEarlierResults(
  { repository, refs: own }: Pick<CampaignContext, 'repository' | 'refs'>,
  prefixes: readonly string[],
): Promise<PriorResult[]> {
  const patterns = prefixes.flatMap(prefix => [
    `refs/heads/${prefix}-state/*`,
    `refs/heads/${prefix}-archive/*`,
  ])
  const { refs } = await repository.remoteRefs(patterns)
  const results: PriorResult[] = []
  for (const [ref, oid] of listOtherLedgers(refs, own.state).slice(0, MOST_LEDGERS)) {
    await repository.fetch([{ ref, oid }])
    try {
      results.push(...toPriorResults((await loadCampaign(repository, oid)).campaign))
    } catch (error) {
      // The branch only looks like a ledger, or a newer version wrote it.
      if (!(error instanceof UserError || error instanceof LedgerError)) throw error
    }
  }
  return results
}

const LEDGER = /-(?:state\/[^/]+|archive\/[^/]+\/([^/]+)\/state)$/

/** Ledgers of campaigns that are not archived come first, then the newest archives. */
export function listOtherLedgers(refs: ReadonlyMap<string, Oid>, own: string): [ref: string, oid: Oid][] {
  const readTime = (ref: string) => LEDGER.exec(ref)?.[1] ?? 'not archived'
  return [...refs]
    .filter(([ref]) => ref !== own && LEDGER.test(ref))
    .toSorted(([a], [b]) => readTime(b).localeCompare(readTime(a)))
}
