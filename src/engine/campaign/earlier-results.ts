import { type PriorResult, toPriorResults } from '../../ideas/prior-results.ts'
import { loadCampaign } from '../../ledger/load.ts'
import { UserError } from '../../errors.ts'
import type { CampaignContext } from './context.ts'

const MOST_LEDGERS = 20

/** Results of archived campaigns and of the other campaigns of this repository, the newest archives first. */
export async function readEarlierResults(
  { repository, refs: own }: Pick<CampaignContext, 'repository' | 'refs'>,
  prefixes: readonly string[],
): Promise<PriorResult[]> {
  const patterns = prefixes.flatMap(prefix => [
    `refs/heads/${prefix}-state/*`,
    `refs/heads/${prefix}-archive/*`,
  ])
  const { refs } = await repository.remoteRefs(patterns)
  const ledgers = [...refs]
    .filter(([ref]) => ref !== own.state && (ref.includes('-state/') || ref.endsWith('/state')))
    .toSorted(([a], [b]) => (a > b ? -1 : 1))
    .slice(0, MOST_LEDGERS)
  const results: PriorResult[] = []
  for (const [ref, oid] of ledgers) {
    await repository.fetch([{ ref, oid }])
    try {
      results.push(...toPriorResults((await loadCampaign(repository, oid)).campaign))
    } catch (error) {
      // The branch only looks like a ledger, or a newer version wrote it.
      if (!(error instanceof UserError)) throw error
    }
  }
  return results
}
