import { LedgerError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { TreeEntry } from '../git/tree.ts'
import { hashSha256 } from '../model/canonical-json.ts'
import type { LedgerEvent } from '../model/event.ts'
import type { Oid } from '../model/ids.ts'
import {
  buildEventPath,
  type ChainHead,
  checkEventFile,
  parseEventSeq,
  parseShardName,
  SHARD_SIZE,
} from './event-file.ts'

/** The state of the ledger: `seq` is the next event's, `head` the sha256 of the last event's file. */
export interface Tip extends ChainHead {
  commit: Oid | null
  tree: Oid | null
}

interface EventEntry {
  seq: number
  oid: Oid
}

interface EventListing {
  /** Sorted by seq; a missing event leaves a gap. */
  files: EventEntry[]
  unknownPaths: string[]
}

const FILES_PER_CHUNK = 500

const NO_LEDGER: Tip = { commit: null, tree: null, seq: 0, head: null }

/** Reads only the last directory and the last file, so its cost does not depend on the length of the ledger. */
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

/** A branch of a person may have the name of a ledger. */
export async function isLedger(repo: Repository, commit: Oid): Promise<boolean> {
  try {
    await readTip(repo, commit)
    return true
  } catch (error) {
    if (error instanceof LedgerError) return false
    throw error
  }
}

export async function* readEvents(
  repo: Repository,
  tipCommit: Oid,
  fromSeq: number,
): AsyncGenerator<LedgerEvent, void> {
  const { tree } = await repo.commit(tipCommit)
  const head = await readPreviousHead(repo, tree, fromSeq)
  yield* continueEvents(repo, tree, { seq: fromSeq, head })
}

/** Invariant 2: reads the events after a known chain head, or throws at the first event that does not fit. */
export async function* continueEvents(
  repo: Repository,
  tree: Oid,
  start: ChainHead,
): AsyncGenerator<LedgerEvent, void> {
  const { files, unknownPaths } = await listEvents(repo, tree, start.seq)
  if (unknownPaths[0] !== undefined)
    throw new LedgerError(`${unknownPaths[0]} in the ledger is not an event file`)
  if (files.length === 0 && start.seq === 0) throw new LedgerError('the ledger holds no events', 0)
  const expected = { ...start }
  for await (const { file, bytes } of readEventFiles(repo, files)) {
    requireNextFile(file, expected.seq)
    const { event, sha256 } = checkEventFile(bytes, expected)
    expected.seq += 1
    expected.head = sha256
    yield event
  }
}

/** Reads single events of a verified ledger without the events between them. */
export async function* readEventsBySeq(
  repo: Repository,
  tipCommit: Oid,
  seqs: readonly number[],
): AsyncGenerator<LedgerEvent, void> {
  const { tree } = await repo.commit(tipCommit)
  for (const seq of seqs.toSorted((a, b) => a - b)) {
    const { path } = buildEventPath(seq)
    const entry = await repo.findEntry(tree, path)
    if (entry?.type !== 'blob') throw new LedgerError(`event ${seq} is missing: there is no ${path}`, seq)
    const head = await readPreviousHead(repo, tree, seq)
    yield checkEventFile(await repo.blob(entry.oid), { seq, head }).event
  }
}

export async function readPreviousHead(repo: Repository, tree: Oid, seq: number): Promise<string | null> {
  if (seq === 0) return null
  const { path } = buildEventPath(seq - 1)
  const entry = await repo.findEntry(tree, path)
  if (entry?.type !== 'blob')
    throw new LedgerError(`event ${seq - 1} is missing: there is no ${path}`, seq - 1)
  return hashSha256(await repo.blob(entry.oid))
}

/** Requests the next chunk while this one is processed: the pipe to git stays full, memory use small. */
export async function* readEventFiles(
  repo: Repository,
  files: readonly EventEntry[],
): AsyncGenerator<{ file: EventEntry; bytes: Uint8Array }, void> {
  const chunk = (at: number) => {
    const reads = files
      .slice(at, at + FILES_PER_CHUNK)
      .map(async file => ({ file, bytes: await repo.blob(file.oid) }))
    const all = Promise.all(reads)
    // The loop awaits this promise later. When the reader stops before that, its rejection must not be unhandled.
    all.catch(() => {})
    return all
  }
  let next = chunk(0)
  for (let at = FILES_PER_CHUNK; ; at += FILES_PER_CHUNK) {
    const current = await next
    const hasMore = at < files.length
    if (hasMore) next = chunk(at)
    yield* current
    if (!hasMore) return
  }
}

/** Lists the files below events/ from `fromSeq` on. Directories that end before it are not read. */
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

function requireNextFile(file: EventEntry, seq: number): void {
  if (file.seq === seq) return
  const { path } = buildEventPath(seq)
  throw new LedgerError(`event ${seq} is missing: there is no ${path}, but there are later events`, seq)
}

async function readShardEntries(repo: Repository, tree: Oid): Promise<readonly TreeEntry[]> {
  const events = await repo.findEntry(tree, 'events')
  if (events === null) return []
  if (events.type !== 'tree') throw new LedgerError('events of the ledger is not a directory')
  return repo.tree(events.oid)
}

function findLastEntry(
  entries: readonly TreeEntry[],
  parseNumber: (entry: TreeEntry) => number | null,
): { entry: TreeEntry; number: number } | null {
  let found: { entry: TreeEntry; number: number } | null = null
  for (const entry of entries) {
    const number = parseNumber(entry)
    if (number !== null && number > (found?.number ?? -1)) found = { entry, number }
  }
  return found
}
