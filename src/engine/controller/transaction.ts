import { ForgeError } from '../../errors.ts'
import type { PushResult, RefUpdate } from '../../git/push.ts'
import { buildCheckpoint, isCheckpointDue } from '../../ledger/checkpoint.ts'
import { type ChainedEvent, type EventChain, openChain } from '../../ledger/event-file.ts'
import { writeLedgerCommit } from '../../ledger/ledger-commit.ts'
import type { LoadedCampaign } from '../../ledger/load.ts'
import { retryLostRaces, toPushAttempt } from '../../ledger/retry.ts'
import { buildRefusedSyncAlert, findRefusedSync } from '../../model/alerts.ts'
import type { Campaign } from '../../model/campaign.ts'
import { type EventDraft, removeEnvelope } from '../../model/event.ts'
import { FoldedCopy } from '../../model/fold/fold.ts'
import { type Oid, toShortRef } from '../../model/ids.ts'
import { toOneLine } from '../../model/text.ts'
import { renderLedgerViews } from '../../report/ledger-views.ts'
import { renderPushRefusal } from '../../report/push-refusal.ts'
import { getCampaignSpec } from '../../spec/load.ts'
import { type CampaignContext, createPacing } from '../campaign/context.ts'
import { fetchCommit } from '../jobs/job-clone.ts'
import { withSavedEvents } from './record.ts'

export interface TransactionBase {
  loaded: LoadedCampaign
  refs: ReadonlyMap<string, Oid>
}

/**
 * Collects the events and ref moves of one transaction. They become visible with `push`, all at once or not at
 * all (invariants 2 and 9); objects written before a lost push are garbage. The events are folded into a copy
 * of the campaign, which becomes the loaded one only when the remote has accepted them.
 */
export class Transaction {
  readonly at: string
  readonly context: CampaignContext
  readonly #start: TransactionBase
  readonly #chain: EventChain
  readonly #copy: FoldedCopy
  readonly #events: ChainedEvent[] = []
  readonly #moves = new Map<string, RefUpdate>()
  #spec: string | undefined
  #renewsViews = false
  readonly #files: Record<string, string> = {}

  constructor(context: CampaignContext, transactionBase: TransactionBase) {
    this.context = context
    this.#start = transactionBase
    this.#copy = new FoldedCopy(transactionBase.loaded.campaign)
    this.at = new Date(context.clock.now()).toISOString()
    this.#chain = openChain(transactionBase.loaded.tip, { at: this.at, by: context.by })
  }

  addEvent(draft: EventDraft): ChainedEvent {
    const chained = this.#chain.addEvent(draft)
    this.#events.push(chained)
    this.#copy.applyEvent(chained.event)
    if (draft.kind === 'campaign-started' || draft.kind === 'campaign-amended') this.#spec = draft.spec_yaml
    return chained
  }

  /** The campaign as the next event finds it. Only for writing steps: `predictCampaign` ends its use. */
  get campaign(): Campaign {
    return this.#copy.draft
  }

  /** The campaign after the events so far, as if the remote had accepted them. */
  predictCampaign(): Campaign {
    return this.#copy.finish()
  }

  tip(ref: string): Oid | null {
    const moved = this.#moves.get(ref)
    return moved ? moved.to : (this.#start.refs.get(ref) ?? null)
  }

  move(ref: string, to: Oid | null): void {
    const from = this.#start.refs.get(ref) ?? null
    if (from === to) this.#moves.delete(ref)
    else this.#moves.set(ref, { ref, from, to })
  }

  /** A ledger file that winnow itself never reads. */
  addView(path: string, text: string): void {
    this.#files[path] = text
  }

  /** The ledger commit that this transaction continues; null for a new ledger. */
  get base(): Oid | null {
    return this.#start.loaded.tip.commit
  }

  /** Writes the ledger's views even when the transaction has no event. */
  renewViews(): void {
    this.#renewsViews = true
  }

  get isEmpty(): boolean {
    return this.#events.length === 0 && this.#moves.size === 0 && !this.#renewsViews
  }

  /** The refs after the push, except the ledger's own. */
  refsAfter(): ReadonlyMap<string, Oid> {
    const refs = new Map(this.#start.refs)
    for (const { ref, to } of this.#moves.values()) {
      if (to === null) refs.delete(ref)
      else refs.set(ref, to)
    }
    return refs
  }

  /** Invariant 8: keeps heads on the `closed` branch, because their own branch may be deleted or moved. */
  async keepReachable(heads: readonly Oid[]): Promise<void> {
    const { repository, refs } = this.context
    for (const head of heads) {
      await fetchCommit(repository, head)
      const previous = this.tip(refs.closed)
      const parents = previous === null ? [head] : [previous, head]
      const message = `keep ${head}\n`
      const date = Math.floor(Date.parse(this.at) / 1000)
      this.move(
        refs.closed,
        await repository.writeCommit({ tree: repository.emptyTree, parents, message, date }),
      )
    }
  }

  get events(): readonly ChainedEvent['event'][] {
    return this.#events.map(({ event }) => event)
  }

  async push(): Promise<PushResult> {
    const { repository, refs, faults } = this.context
    const { tip } = this.#start.loaded
    if (this.#events.length > 0 || this.#renewsViews)
      await this.#savingOnError(async () => this.move(refs.state, await this.#writeLedger()))
    faults.reach('commit:before-push')
    const moves = [...this.#moves.values()]
    let result = await this.#savingOnError(() => this.#pushWithRetries(moves))
    if (this.#needsAppToken(result)) {
      faults.reach('commit:before-app-push')
      result = await this.#savingOnError(() => repository.push(moves, { bringsWorkflows: true }))
    }
    faults.reach('commit:after-push')
    if (isRefusedPush(result)) return this.#savingOnError(() => this.#pushLedgerAlone(result, tip.commit))
    return result
  }

  /** Repeats a refused push, except a refused sync: the campaign continues without the sync. */
  async #pushWithRetries(moves: readonly RefUpdate[]): Promise<PushResult> {
    const { repository, progress } = this.context
    let result = await repository.push(moves)
    if (!isRefusedPush(result) || this.#refusesSync(result)) return result
    progress.say(
      `The remote rejected a push; winnow repeats it: ${toOneLine(result.rule ?? result.message, 200)}`,
    )
    let first: PushResult | null = result
    await retryLostRaces<PushResult>(createPacing(this.context), async () => {
      result = first ?? (await repository.push(moves))
      first = null
      return isRefusedPush(result) ? toPushAttempt(result, result) : { done: true, value: result }
    })
    return result
  }

  #refusesSync({ message }: RefusedPush): boolean {
    return findRefusedSync(message, this.events.map(removeEnvelope)) !== null
  }

  /** Only for a sync that the job's token may not push: a ref of an App starts every workflow. */
  #needsAppToken(result: PushResult): boolean {
    const { repository, refs } = this.context
    if (!isRefusedPush(result) || !repository.canPushWorkflows) return false
    const own = new Set([refs.optimize, refs.state, refs.closed])
    return [...this.#moves.keys()].every(ref => own.has(ref)) && this.#refusesSync(result)
  }

  async #savingOnError<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw await withSavedEvents(this.context, this.events.map(removeEnvelope), error)
    }
  }

  /** The ledger after an accepted push, without reading it back. */
  async loaded(): Promise<LoadedCampaign> {
    const { loaded } = this.#start
    const last = this.#events.at(-1)
    const commit = this.tip(this.context.refs.state)
    if (commit === null || commit === loaded.tip.commit) return loaded
    const { tree } = await this.context.repository.commit(commit)
    if (last === undefined) return { ...loaded, tip: { ...loaded.tip, commit, tree } }
    const tip = { commit, tree, seq: last.event.seq + 1, head: last.sha256 }
    const checkpointSeq = this.#checkpointDue() ? tip.seq : loaded.checkpointSeq
    const campaign = this.predictCampaign()
    return { campaign, tip, lastSha: last.sha256, checkpointSeq, checkpointIgnored: null }
  }

  #checkpointDue(): boolean {
    const last = this.#events.at(-1)
    return last !== undefined && isCheckpointDue(last.event.seq + 1, this.#start.loaded.checkpointSeq)
  }

  async #writeLedger(): Promise<Oid> {
    const { loaded } = this.#start
    const campaign = this.predictCampaign()
    const kinds = [...new Set(this.#events.map(({ event }) => event.kind))]
    const last = this.#events.at(-1)
    return writeLedgerCommit(this.context.repository, loaded.tip, this.#events, {
      message: `ledger: ${kinds.join(', ') || 'views'}`,
      ...(this.#spec === undefined ? {} : { spec: this.#spec }),
      ...(this.#renewsViews || kinds.some(kind => VIEW_CHANGES.has(kind))
        ? { views: { ...renderLedgerViews(campaign, getCampaignSpec(campaign)), ...this.#files } }
        : { views: this.#files }),
      ...(last && this.#checkpointDue() ? { checkpoint: buildCheckpoint(campaign, last.sha256) } : {}),
    })
  }

  #describeRefusedPush(refs: readonly string[]) {
    const { context } = this
    const { campaign } = this.#start.loaded
    const isPush = campaign.status === 'none' || getCampaignSpec(campaign).merge.via === 'push'
    const couldMerge = context.forge !== null && isPush
    const isStarted = campaign.status !== 'none'
    return { refs, optimize: context.refs.optimize, prefix: context.prefix, isStarted, couldMerge }
  }

  /** Records the observations, an alert and a pause, but no decision that needed the refused branch. */
  async #pushLedgerAlone(refusal: RefusedPush, from: Oid | null): Promise<PushResult> {
    const { repository, refs, by } = this.context
    if (from === null)
      throw new ForgeError(
        renderPushRefusal(refusal, this.#describeRefusedPush([...this.#moves.keys()])),
        toRefusalDetail(refusal),
      )
    const chain = openChain(this.#start.loaded.tip, { at: this.at, by })
    const observed = this.#events.filter(({ event }) => OBSERVATIONS.has(event.kind))
    const chained = observed.map(({ event }) => chain.addEvent(removeEnvelope(event)))
    const refusedRefs = [...this.#moves.keys()].filter(ref => ref !== refs.state)
    chained.push(...this.#buildRefusalEvents(refusal, refusedRefs).map(draft => chain.addEvent(draft)))
    const commit = await writeLedgerCommit(repository, this.#start.loaded.tip, chained, {
      message: 'ledger: push refused',
    })
    const ledger = { ref: refs.state, from, to: commit }
    const closed = this.#moves.get(refs.closed)
    let result = await repository.push(closed ? [ledger, closed] : [ledger])
    if (!result.ok && closed && 'message' in result) result = await repository.push([ledger])
    // The plan did not happen, so the caller has to observe again, as after a lost race.
    if (result.ok) return { ok: false, reason: 'lease', refs: refusedRefs }
    if (result.reason !== 'refused' && result.reason !== 'atomic-refused') return result
    throw new ForgeError(
      `the remote rejected the push to the ledger branch ${toShortRef(refs.state)}: ${result.message}`,
      toRefusalDetail(result),
    )
  }

  /** A refused sync with workflow files does not pause the campaign: it continues without the sync. */
  #buildRefusalEvents(refusal: RefusedPush, refusedRefs: readonly string[]): EventDraft[] {
    const { campaign, tip } = this.#start.loaded
    // Use the recorded tip. The events of the refused transaction get the same numbers again.
    const cause = `refused at ${tip.seq}`
    const drafts = this.#events.map(({ event }) => removeEnvelope(event))
    const sync = findRefusedSync(refusal.message, drafts)
    if (sync !== null) {
      const { repository, refs } = this.context
      const about = {
        tip: sync,
        optimize: refs.optimize,
        words: refusal.message,
        byApp: repository.canPushWorkflows,
      }
      return [{ kind: 'alert', cause, ...buildRefusedSyncAlert(campaign, about) }]
    }
    const message = renderPushRefusal(refusal, this.#describeRefusedPush(refusedRefs))
    return [
      { kind: 'alert', cause, code: 'push-refused', message, about: refusal.rule ?? null },
      { kind: 'campaign-paused', cause, reason: message, source: 'engine' },
    ]
  }
}

type RefusedPush = Extract<PushResult, { message: string }>

function isRefusedPush(result: PushResult): result is RefusedPush {
  return !result.ok && (result.reason === 'refused' || result.reason === 'atomic-refused')
}

/** Events that are recorded even when the push is refused. An order of a refused push was never issued. */
const OBSERVATIONS = new Set(['measured', 'order-lost', 'report-rejected', 'head-moved'])
/** Views cost more than an event, so they are written only when a round ends or the state changes. */
const VIEW_CHANGES = new Set([
  'campaign-started',
  'campaign-amended',
  'round-closed',
  'synced',
  'foreign-tip',
  'reverted',
  'campaign-stopped',
  'campaign-paused',
  'campaign-resumed',
  'effect-measured',
])

function toRefusalDetail(refusal: { message: string; rule?: string }) {
  return { output: refusal.message, ...(refusal.rule === undefined ? {} : { rule: refusal.rule }) }
}
