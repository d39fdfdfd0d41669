import { LedgerError } from '../../errors.ts'
import { buildLocalIsolation } from '../../git/isolation.ts'
import { createGitRunner } from '../../git/runner.ts'
import { continueEvents } from '../../ledger/read-events.ts'
import { type LedgerProblem, verifyLedger } from '../../ledger/verify.ts'
import type { LedgerEvent } from '../../model/event.ts'
import type { Oid } from '../../model/ids.ts'
import type { CampaignContext } from '../place.ts'
import { requireLedger } from '../recover.ts'

/** The ledger as git has it: neither a checkpoint nor a view is looked at. */
export interface AuditedLedger {
  tip: Oid
  problems: LedgerProblem[]
  /** Up to the first that does not fit: what follows it cannot be believed. */
  events: LedgerEvent[]
  /** spec.yaml beside the events; null where it is gone. */
  spec: string | null
}

export async function readAuditedLedger(
  place: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
): Promise<AuditedLedger> {
  const { repository, env } = place
  const tip = await requireLedger(place, refs)
  const { tree } = await repository.commit(tip)
  const git = createGitRunner(buildLocalIsolation(repository.dir, env), { GIT_DIR: repository.dir })
  const problems = await verifyLedger(repository, git, tip)
  return {
    tip,
    problems,
    events: await readValidEvents(place, tree),
    spec: await readPinnedSpec(place, tree),
  }
}

async function readPinnedSpec({ repository }: CampaignContext, tree: Oid): Promise<string | null> {
  const entry = await repository.findEntry(tree, 'spec.yaml')
  return entry?.type === 'blob' ? (await repository.blob(entry.oid)).toString('utf8') : null
}

async function readValidEvents({ repository }: CampaignContext, tree: Oid): Promise<LedgerEvent[]> {
  const events: LedgerEvent[] = []
  try {
    for await (const event of continueEvents(repository, tree, { seq: 0, head: null })) events.push(event)
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
  }
  return events
}
