import { LedgerError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { TreeEntry } from '../git/tree-object.ts'
import { hashSha256 } from '../model/canonical.ts'
import type { Oid } from '../model/ids.ts'
import type { ChainHead } from './event-file.ts'
import { buildEventPath, parseEventSeq, parseShardName } from './layout.ts'

/** Where the ledger stands: `seq` is the next event's, `head` the sha256 of the last event's file. */
export interface Tip extends ChainHead {
  commit: Oid | null
  tree: Oid | null
}

const NO_LEDGER: Tip = { commit: null, tree: null, seq: 0, head: null }

/** Looks at the last directory and the last file only: what came before costs nothing. */
export async function readTip(repo: Repository, refOid: Oid | null): Promise<Tip> {
  if (refOid === null) return NO_LEDGER
  const { tree } = await repo.commit(refOid)
  const shard = findLastEntry(await readShardEntries(repo, tree), entry => parseShardName(entry.name))
  if (shard === null) throw new LedgerError(`commit ${refOid} of the ledger holds no events`)
  const file = findLastEntry(await repo.tree(shard.entry.oid), entry =>
    parseEventSeq(shard.number, entry.name),
  )
  if (file === null) throw new LedgerError(`events/${shard.entry.name} holds no events`)
  const bytes = await repo.blob(file.entry.oid)
  return { commit: refOid, tree, seq: file.number + 1, head: hashSha256(bytes) }
}

/** The directories of events, each of which must be one. */
export async function readShardEntries(repo: Repository, tree: Oid): Promise<readonly TreeEntry[]> {
  const events = await repo.findEntry(tree, 'events')
  if (events === null) return []
  if (events.type !== 'tree') throw new LedgerError('events of the ledger is not a directory')
  return repo.tree(events.oid)
}

function findLastEntry(
  entries: readonly TreeEntry[],
  numberOf: (entry: TreeEntry) => number | null,
): { entry: TreeEntry; number: number } | null {
  let found: { entry: TreeEntry; number: number } | null = null
  for (const entry of entries) {
    const number = numberOf(entry)
    if (number !== null && number > (found?.number ?? -1)) found = { entry, number }
  }
  return found
}

/** The sha256 that an event's `prev` must name when it follows the events before `seq`. */
export async function readPreviousHead(repo: Repository, tree: Oid, seq: number): Promise<string | null> {
  if (seq === 0) return null
  const { path } = buildEventPath(seq - 1)
  const entry = await repo.findEntry(tree, path)
  if (entry?.type !== 'blob')
    throw new LedgerError(`event ${seq - 1} is missing: there is no ${path}`, seq - 1)
  return hashSha256(await repo.blob(entry.oid))
}
