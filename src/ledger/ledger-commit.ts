import { LedgerError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { SignatureFormat } from '../git/sign.ts'
import { readTreeFile, type TreeChange } from '../git/tree.ts'
import type { Oid } from '../model/ids.ts'
import { readSpec } from '../spec/load.ts'
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
  const date = await getCommitDate(repo, tip, chained)
  const commit = { tree, parents, message: write.message, date }
  const format = await findSignatureFormat(repo, tip.tree, write.spec ?? null)
  return format === null ? repo.writeCommit(commit) : repo.signer.signCommit(commit, format)
}

/**
 * Returns how a commit has to be signed: as the spec before it says, or the one that it writes. The commit that
 * turns signing off is thus signed itself.
 */
async function findSignatureFormat(
  repo: Repository,
  treeBefore: Oid | null,
  newSpec: string | null,
): Promise<SignatureFormat | null> {
  const before = treeBefore === null ? null : await readTreeFile(repo, treeBefore, 'spec.yaml')
  return readSignatureFormat(before) ?? readSignatureFormat(newSpec)
}

/** A spec that this version cannot read, for example of a newer one, must not switch signing off. */
export function readSignatureFormat(spec: string | null): SignatureFormat | null {
  if (spec === null || !spec.includes('sign')) return null
  const parsed = readSpec(spec, { file: 'spec.yaml' })?.spec
  const sign = parsed?.ledger.sign ?? SIGN_KEY.exec(spec)?.[1]
  return sign === 'ssh' || sign === 'gpg' ? sign : null
}

const SIGN_KEY = /\bsign: *["']?(ssh|gpg)\b/

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
