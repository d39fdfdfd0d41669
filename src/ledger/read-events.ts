import { LedgerError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { LedgerEvent } from '../model/event.ts'
import type { Oid } from '../model/ids.ts'
import { type ChainHead, checkEventFile } from './event-file.ts'
import { type EventEntry, listEvents } from './event-listing.ts'
import { buildEventPath } from './layout.ts'
import { readPreviousHead } from './tip.ts'

/** All events from `fromSeq` on, each checked against the one before it. */
export async function* readEvents(
  repo: Repository,
  tipCommit: Oid,
  fromSeq: number,
): AsyncGenerator<LedgerEvent, void> {
  const { tree } = await repo.commit(tipCommit)
  const head = await readPreviousHead(repo, tree, fromSeq)
  yield* continueEvents(repo, tree, { seq: fromSeq, head })
}

/** Invariant 2: the events that follow a known chain head, or an error naming the first that does not fit. */
export async function* continueEvents(
  repo: Repository,
  tree: Oid,
  start: ChainHead,
): AsyncGenerator<LedgerEvent, void> {
  const { files, unknownPaths: strangers } = await listEvents(repo, tree, start.seq)
  if (strangers[0] !== undefined) throw new LedgerError(`${strangers[0]} in the ledger is not an event file`)
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

/** Events of a ledger that is known to fit together, by their seq: what lies between them costs nothing. */
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

function requireNextFile(file: EventEntry, seq: number): void {
  if (file.seq === seq) return
  const { path } = buildEventPath(seq)
  throw new LedgerError(`event ${seq} is missing: there is no ${path}, but there are later events`, seq)
}

const FILES_PER_CHUNK = 500

/** The next chunk is on its way while one is looked at: the pipe to git stays full, memory stays small. */
export async function* readEventFiles(
  repo: Repository,
  files: readonly EventEntry[],
): AsyncGenerator<{ file: EventEntry; bytes: Uint8Array }, void> {
  const chunk = (at: number) => {
    const reads = files
      .slice(at, at + FILES_PER_CHUNK)
      .map(async file => ({ file, bytes: await repo.blob(file.oid) }))
    const all = Promise.all(reads)
    // Awaited in its turn; should the reader stop before, a failure of it is nobody's.
    all.catch(() => {})
    return all
  }
  let coming = chunk(0)
  for (let at = FILES_PER_CHUNK; ; at += FILES_PER_CHUNK) {
    const here = await coming
    const more = at < files.length
    if (more) coming = chunk(at)
    yield* here
    if (!more) return
  }
}
