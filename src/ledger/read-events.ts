import { LedgerError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { LedgerEvent } from '../model/event.ts'
import type { Oid } from '../model/ids.ts'
import { type ChainHead, checkEventFile } from './event-file.ts'
import { type EventEntry, listEvents } from './event-listing.ts'
import { eventPath } from './layout.ts'
import { headBefore } from './tip.ts'

/** All events from `fromSeq` on, each checked against the one before it. */
export async function* readEvents(
  repo: Repository,
  tipCommit: Oid,
  fromSeq: number,
): AsyncGenerator<LedgerEvent, void> {
  const { tree } = await repo.commit(tipCommit)
  const head = await headBefore(repo, tree, fromSeq)
  yield* readEventsAfter(repo, tree, { seq: fromSeq, head })
}

/** Invariant 2: the events that follow a known chain head, or an error naming the first that does not fit. */
export async function* readEventsAfter(
  repo: Repository,
  tree: Oid,
  start: ChainHead,
): AsyncGenerator<LedgerEvent, void> {
  const { files, strangers } = await listEvents(repo, tree, start.seq)
  if (strangers[0] !== undefined) throw new LedgerError(`${strangers[0]} in the ledger is not an event file`)
  if (files.length === 0 && start.seq === 0) throw new LedgerError('the ledger holds no events', 0)
  const expected = { ...start }
  for await (const { file, bytes } of readFiles(repo, files)) {
    requireNext(file, expected.seq)
    const { event, sha256 } = checkEventFile(bytes, expected)
    expected.seq += 1
    expected.head = sha256
    yield event
  }
}

/** Events of a ledger that is known to fit together, by their seq: what lies between them costs nothing. */
export async function* readEventsAt(
  repo: Repository,
  tipCommit: Oid,
  seqs: readonly number[],
): AsyncGenerator<LedgerEvent, void> {
  const { tree } = await repo.commit(tipCommit)
  for (const seq of seqs.toSorted((a, b) => a - b)) {
    const { path } = eventPath(seq)
    const entry = await repo.entryAt(tree, path)
    if (entry?.type !== 'blob') throw new LedgerError(`event ${seq} is missing: there is no ${path}`, seq)
    const head = await headBefore(repo, tree, seq)
    yield checkEventFile(await repo.blob(entry.oid), { seq, head }).event
  }
}

function requireNext(file: EventEntry, seq: number): void {
  if (file.seq === seq) return
  const { path } = eventPath(seq)
  throw new LedgerError(`event ${seq} is missing: there is no ${path}, but there are later events`, seq)
}

const CHUNK = 500

/** The next chunk is on its way while one is looked at: the pipe to git stays full, memory stays small. */
export async function* readFiles(
  repo: Repository,
  files: readonly EventEntry[],
): AsyncGenerator<{ file: EventEntry; bytes: Uint8Array }, void> {
  const chunk = (at: number) => {
    const reads = files.slice(at, at + CHUNK).map(async file => ({ file, bytes: await repo.blob(file.oid) }))
    const all = Promise.all(reads)
    // Awaited in its turn; should the reader stop before, a failure of it is nobody's.
    all.catch(() => {})
    return all
  }
  let coming = chunk(0)
  for (let at = CHUNK; ; at += CHUNK) {
    const here = await coming
    const more = at < files.length
    if (more) coming = chunk(at)
    yield* here
    if (!more) return
  }
}
