import { LedgerError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { TreeChange } from '../git/tree.ts'
import type { Oid } from '../model/ids.ts'
import { CHECKPOINT_PATH } from './checkpoint.ts'
import { buildEventPath, type ChainedEvent } from './event-file.ts'
import type { Tip } from './read-events.ts'

export interface LedgerWrite {
  spec?: string
  checkpoint?: string
  /** Derived files by path: README.md, chart.svg, … */
  views?: Record<string, string>
  message: string
}

/** Writes one commit with all events of a transaction, without a git process. The caller pushes it. */
export async function writeLedgerCommit(
  repo: Repository,
  tip: Tip,
  chained: readonly ChainedEvent[],
  write: LedgerWrite,
): Promise<Oid> {
  requireChainedEvents(tip, chained)
  const changes: TreeChange[] = []
  for (const [path, bytes] of listFiles(chained, write)) {
    changes.push({ path, entry: { mode: '100644', oid: await repo.writeBlob(bytes) } })
  }
  const tree = await repo.replaceEntries(tip.tree ?? repo.emptyTree, changes)
  if (tip.commit !== null && tree === tip.tree) return tip.commit
  const parents = tip.commit === null ? [] : [tip.commit]
  return repo.writeCommit({
    tree,
    parents,
    message: write.message,
    date: await getCommitDate(repo, tip, chained),
  })
}

/** Invariant 2: new events continue the chain, so no event file can be replaced. */
function requireChainedEvents(tip: Tip, chained: readonly ChainedEvent[]): void {
  let { seq, head } = tip
  for (const { event, sha256 } of chained) {
    if (event.seq !== seq || event.prev !== head) {
      throw new LedgerError(`event ${event.seq} continues another tip than the one at ${seq}`, event.seq)
    }
    seq += 1
    head = sha256
  }
  if (seq === 0) throw new LedgerError('a ledger cannot begin without an event')
}

function* listFiles(chained: readonly ChainedEvent[], write: LedgerWrite): Generator<[string, string]> {
  for (const { event, bytes } of chained) yield [buildEventPath(event.seq).path, bytes]
  if (write.spec !== undefined) yield ['spec.yaml', write.spec]
  if (write.checkpoint !== undefined) yield [CHECKPOINT_PATH, write.checkpoint]
  for (const [path, bytes] of Object.entries(write.views ?? {})) {
    if (/^(?:events(?:\/|$)|spec\.yaml$|checkpoint\.json$)/.test(path)) {
      throw new LedgerError(`${path} belongs to the ledger and cannot be written as a view`)
    }
    yield [path, bytes]
  }
}

/** Returns the last event's time, or the parent commit's time for a commit of views only. */
async function getCommitDate(repo: Repository, tip: Tip, chained: readonly ChainedEvent[]): Promise<number> {
  const at = chained.at(-1)?.event.at
  if (at !== undefined) return Math.floor(Date.parse(at) / 1000)
  return tip.commit === null ? 0 : (await repo.commit(tip.commit)).committer.date
}
