import { WinnowError } from '../../errors.ts'
import type { Repository } from '../../git/repository.ts'
import { type PriorResult, toPriorResults } from '../../ideas/prior-results.ts'
import { loadCampaign } from '../../ledger/load.ts'
import { type Oid, toShortRef } from '../../model/ids.ts'

const MOST_LEDGERS = 20

/** In the clone of a job, the branches of the remote are tracking refs. */
const PATTERNS = ['refs/heads/', 'refs/remotes/origin/'].flatMap(place => [
  `${place}*-state/*`,
  `${place}*-archive/*`,
])

/** By ref: what was read last. */
export type KnownResults = Map<string, { oid: Oid; results: PriorResult[] }>

/** Results of the other campaigns of this repository, then of archived ones. */
export async function readEarlierResults(
  repository: Repository,
  own: { state: string },
  known: KnownResults = new Map(),
): Promise<PriorResult[]> {
  const { refs } = await repository.remoteRefs(PATTERNS)
  const results: PriorResult[] = []
  for (const [ref, oid] of listOtherLedgers(refs, own.state).slice(0, MOST_LEDGERS)) {
    if (known.get(ref)?.oid !== oid) await readLedger(repository, { ref, oid }, known)
    results.push(...(known.get(ref)?.results ?? []))
  }
  return results
}

async function readLedger(
  repository: Repository,
  { ref, oid }: { ref: string; oid: Oid },
  known: KnownResults,
): Promise<void> {
  try {
    await repository.fetch([{ ref, oid }])
    known.set(ref, { oid, results: toPriorResults((await loadCampaign(repository, oid)).campaign) })
  } catch (error) {
    // It moved since, the branch only looks like a ledger, or a newer version wrote it.
    if (!(error instanceof WinnowError)) throw error
  }
}

const LEDGER = /^refs\/(?:heads|remotes\/origin)\/(.*-(?:state\/[^/]+|archive\/[^/]+\/([^/]+)\/state))$/

/** Ledgers of campaigns that are not archived come first, then the newest archives. */
export function listOtherLedgers(refs: ReadonlyMap<string, Oid>, own: string): [ref: string, oid: Oid][] {
  const readTime = (ref: string) => LEDGER.exec(ref)?.[2] ?? 'not archived'
  const byName = new Map<string, [ref: string, oid: Oid]>()
  for (const [ref, oid] of refs) {
    const name = LEDGER.exec(ref)?.[1]
    if (name !== undefined && name !== toShortRef(own)) byName.set(name, [ref, oid])
  }
  return [...byName.values()].toSorted(([a], [b]) => readTime(b).localeCompare(readTime(a)))
}
