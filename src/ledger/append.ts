import { ConflictError, LedgerError, UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import {
  COMMUTING_KINDS,
  computeEventId,
  type EventAuthor,
  type EventDraft,
  type LedgerEvent,
} from '../model/event.ts'
import { type CampaignRefs, toShortRef } from '../model/ids.ts'
import { openChain } from './event-file.ts'
import { writeLedgerCommit } from './ledger-commit.ts'
import { continueEvents, readTip, type Tip } from './read-events.ts'
import { type Attempt, type Pacing, retryLostRaces, toPushAttempt } from './retry.ts'

export interface AppendDeps extends Pacing {
  repo: Repository
  refs: CampaignRefs
  /** Milliseconds since 1970: the time of the events. */
  now: () => number
  /** Saves drafts that could not be appended, and names the place in the returned error. */
  failed: (drafts: readonly EventDraft[], error: unknown) => Promise<unknown>
}

interface AppendProgress {
  tip: Tip | null
  arrived: Map<string, LedgerEvent>
}

/** Appends events whose meaning does not depend on earlier ones. Returns them as the ledger contains them. */
export async function appendCommuting(
  deps: AppendDeps,
  drafts: readonly EventDraft[],
  by: EventAuthor,
): Promise<LedgerEvent[]> {
  const positional = drafts.find(draft => !COMMUTING_KINDS.has(draft.kind))
  if (positional)
    throw new TypeError(`${positional.kind} depends on earlier events: only the push of a plan appends it`)
  if (drafts.length === 0) return []
  const progress: AppendProgress = { tip: null, arrived: new Map() }
  const ref = deps.refs.state
  try {
    const result = await retryLostRaces(deps, () => tryAppend(deps, drafts, by, progress))
    if (result.done) return result.value
    throw (
      result.refused ??
      new ConflictError(`winnow could not append the events in two minutes: ${result.why}`, [ref])
    )
  } catch (error) {
    throw await deps.failed(drafts, error)
  }
}

async function tryAppend(
  deps: AppendDeps,
  drafts: readonly EventDraft[],
  by: EventAuthor,
  progress: AppendProgress,
): Promise<Attempt<LedgerEvent[]>> {
  const { repo, refs } = deps
  const tip = await observeTip(deps, progress)
  const known = new Map(progress.arrived)
  const chain = openChain(tip, { at: new Date(deps.now()).toISOString(), by })
  const chained = listMissingDrafts(drafts, known).map(draft => chain.addEvent(draft))
  for (const { event } of chained) known.set(event.id, event)
  const events = drafts.flatMap(draft => known.get(computeEventId(draft)) ?? [])
  if (chained.length === 0) return { done: true, value: events }
  const message = `ledger: ${[...new Set(drafts.map(draft => draft.kind))].join(', ')}`
  const commit = await writeLedgerCommit(repo, tip, chained, { message })
  const update = { ref: refs.state, from: tip.commit, to: commit }
  return toPushAttempt(await repo.push([update]), events)
}

/** Reads the remote's tip and the new events. They may be our own, when only the answer to a push was lost. */
async function observeTip({ repo, refs }: AppendDeps, progress: AppendProgress): Promise<Tip> {
  const ref = refs.state
  const oid = (await repo.remoteRefs([ref])).refs.get(ref)
  if (oid === undefined) {
    throw new UserError(`there is no ledger at ${toShortRef(ref)}`, {
      fix: 'start the campaign first: winnow run',
    })
  }
  await repo.fetch([{ ref, oid }])
  const tip = await readTip(repo, oid)
  const before = progress.tip
  progress.tip = tip
  if (before === null || before.commit === null || before.commit === oid || tip.tree === null) return tip
  if (!(await repo.isAncestor(before.commit, oid))) {
    throw new LedgerError(`${toShortRef(ref)} was replaced: it no longer contains ${before.commit}`)
  }
  for await (const event of continueEvents(repo, tip.tree, before)) progress.arrived.set(event.id, event)
  return tip
}

function listMissingDrafts(
  drafts: readonly EventDraft[],
  known: ReadonlyMap<string, LedgerEvent>,
): EventDraft[] {
  const unique = new Map(drafts.map(draft => [computeEventId(draft), draft]))
  return [...unique].filter(([id]) => !known.has(id)).map(([, draft]) => draft)
}
