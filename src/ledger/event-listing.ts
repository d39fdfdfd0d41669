import type { Repository } from '../git/repository.ts'
import type { Oid } from '../model/ids.ts'
import { parseEventSeq, parseShardName, SHARD_SIZE } from './layout.ts'
import { readShardEntries } from './tip.ts'

export interface EventEntry {
  seq: number
  oid: Oid
}

export interface EventListing {
  /** In order of seq; a missing one shows as a gap. */
  files: EventEntry[]
  /** Paths below events/ that are no event's name. */
  unknownPaths: string[]
}

/** What lies below events/ from `fromSeq` on; directories that end before it are not opened. */
export async function listEvents(repo: Repository, tree: Oid, fromSeq: number): Promise<EventListing> {
  const listing: EventListing = { files: [], unknownPaths: [] }
  for (const directory of await readShardEntries(repo, tree)) {
    const shard = parseShardName(directory.name)
    if (shard === null || directory.type !== 'tree') listing.unknownPaths.push(`events/${directory.name}`)
    else if ((shard + 1) * SHARD_SIZE > fromSeq) await listShard(repo, { ...directory, shard }, listing)
  }
  listing.files = listing.files.filter(file => file.seq >= fromSeq).toSorted((a, b) => a.seq - b.seq)
  return listing
}

async function listShard(
  repo: Repository,
  directory: { shard: number; name: string; oid: Oid },
  listing: EventListing,
): Promise<void> {
  for (const entry of await repo.tree(directory.oid)) {
    const seq = parseEventSeq(directory.shard, entry.name)
    if (seq === null || entry.mode !== '100644')
      listing.unknownPaths.push(`events/${directory.name}/${entry.name}`)
    else listing.files.push({ seq, oid: entry.oid })
  }
}
