import { ForgeError } from '../../errors.ts'
import type { PushResult, RefUpdate } from '../../git/push.ts'
import type { RefView } from '../../github/port.ts'
import { buildCheckpoint, isCheckpointDue } from '../../ledger/checkpoint.ts'
import { type ChainedEvent, type EventChain, openChain } from '../../ledger/event-file.ts'
import { writeLedgerCommit } from '../../ledger/ledger-commit.ts'
import type { LoadedCampaign } from '../../ledger/load.ts'
import { retryLostRaces, toPushAttempt } from '../../ledger/retry.ts'
import { buildRefusedSyncAlert, findRefusedSync } from '../../model/alerts.ts'
import { type EventDraft, removeEnvelope } from '../../model/event.ts'
import { applyEvent } from '../../model/fold/fold.ts'
import type { Oid } from '../../model/ids.ts'
import { toOneLine } from '../../model/text.ts'
import { renderLedgerViews } from '../../report/ledger-views.ts'
import { renderPushRefusal } from '../../report/push-refusal.ts'
import { getCampaignSpec } from '../../spec/load.ts'
import { type CampaignContext, createPacing } from '../campaign/context.ts'
import { fetchCommit } from '../jobs/load-order.ts'
import { withSavedEvents } from './record.ts'

/** What a transaction starts from: the ledger as loaded, and the refs as they were seen with it. */
export interface TransactionBase {
  loaded: LoadedCampaign
  refs: ReadonlyMap<string, Oid>
}

/**
 * Collects the events and ref moves of one transaction. Nothing is visible before `push`, and then all of it
 * at once or none (invariants 2 and 9): objects written on the way are garbage if the push is lost. The loaded
 * campaign becomes what the events make of it as they are sealed, so that a plan can follow on them; whoever
 * does not get to the end has to load it again.
 */
export class Transaction {
  readonly at: string
  readonly place: CampaignContext
  readonly #ground: TransactionBase
  readonly #chain: EventChain
  readonly #sealed: ChainedEvent[] = []
  readonly #moves = new Map<string, RefUpdate>()
  #spec: string | undefined
  #renewsViews = false
  readonly #files: Record<string, string> = {}

  constructor(place: CampaignContext, ground: TransactionBase) {
    this.place = place
    this.#ground = ground
    this.at = new Date(place.clock.now()).toISOString()
    this.#chain = openChain(ground.loaded.tip, { at: this.at, by: place.by })
  }

  addEvent(draft: EventDraft): ChainedEvent {
    const sealed = this.#chain.addEvent(draft)
    this.#sealed.push(sealed)
    applyEvent(this.#ground.loaded.campaign, sealed.event)
    if (draft.kind === 'campaign-started' || draft.kind === 'campaign-amended') this.#spec = draft.spec_yaml
    return sealed
  }

  /** The ref as this transaction leaves it so far. */
  tip(ref: string): Oid | null {
    const moved = this.#moves.get(ref)
    return moved ? moved.to : (this.#ground.refs.get(ref) ?? null)
  }

  move(ref: string, to: Oid | null): void {
    const from = this.#ground.refs.get(ref) ?? null
    if (from === to) this.#moves.delete(ref)
    else this.#moves.set(ref, { ref, from, to })
  }

  /** A file of the ledger that nothing is read from, written with the events of this transaction. */
  addView(path: string, text: string): void {
    this.#files[path] = text
  }

  /** The ledger that this transaction continues; null where there is none yet. */
  get base(): Oid | null {
    return this.#ground.loaded.tip.commit
  }

  /** What people read is written anew, also where no event is. */
  renewViews(): void {
    this.#renewsViews = true
  }

  get isEmpty(): boolean {
    return this.#sealed.length === 0 && this.#moves.size === 0 && !this.#renewsViews
  }

  /** The refs as the push will leave them, but for the ledger's own. */
  refsAfter(covers: (ref: string) => boolean): RefView {
    const refs = new Map(this.#ground.refs)
    for (const { ref, to } of this.#moves.values()) {
      if (to === null) refs.delete(ref)
      else refs.set(ref, to)
    }
    return { refs, covers }
  }

  /** Invariant 8: heads that nothing else will hold stay reachable from one branch, whatever happens to theirs. */
  async keepReachable(heads: readonly Oid[]): Promise<void> {
    const { repository, refs } = this.place
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

  /** What it has sealed so far. */
  get events(): readonly ChainedEvent['event'][] {
    return this.#sealed.map(({ event }) => event)
  }

  async push(): Promise<PushResult> {
    const { repository, refs, faults } = this.place
    const { tip } = this.#ground.loaded
    if (this.#sealed.length > 0 || this.#renewsViews) this.move(refs.state, await this.#write())
    faults.reach('commit:before-push')
    const moves = [...this.#moves.values()]
    let result = await this.#orKept(() => this.#pushPatiently(moves))
    if (this.#isForTheApp(result)) {
      faults.reach('commit:before-app-push')
      result = await this.#orKept(() => repository.push(moves, { bringsWorkflows: true }))
    }
    faults.reach('commit:after-push')
    if (isRefusal(result)) return this.#orKept(() => this.#ledgerAlone(result, tip.commit))
    return result
  }

  /** A refused sync is not repeated: the campaign goes on without it. */
  async #pushPatiently(moves: readonly RefUpdate[]): Promise<PushResult> {
    const { repository, progress } = this.place
    let result = await repository.push(moves)
    if (!isRefusal(result) || this.#refusesSync(result)) return result
    progress.say(
      `The remote refused a push; winnow repeats it: ${toOneLine(result.rule ?? result.message, 200)}`,
    )
    let first: PushResult | null = result
    await retryLostRaces<PushResult>(createPacing(this.place), async () => {
      result = first ?? (await repository.push(moves))
      first = null
      return isRefusal(result) ? toPushAttempt(result, result) : { done: true, value: result }
    })
    return result
  }

  #refusesSync({ message }: RefusedPush): boolean {
    return findRefusedSync(message, this.events.map(removeEnvelope)) !== null
  }

  /**
   * The one push that the App's token is for: a sync that was refused to the job's own, and no branch with it on which a
   * draft could stand. What an App moves starts every workflow there is for it.
   */
  #isForTheApp(result: PushResult): boolean {
    const { repository, refs } = this.place
    if (!isRefusal(result) || !repository.canPushWorkflows) return false
    const own = new Set([refs.optimize, refs.state, refs.closed])
    return [...this.#moves.keys()].every(ref => own.has(ref)) && this.#refusesSync(result)
  }

  async #orKept<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw await withSavedEvents(this.place, this.events.map(removeEnvelope), error)
    }
  }

  /** The ledger as an accepted push leaves it: nothing has to be read back. */
  async loaded(): Promise<LoadedCampaign> {
    const { loaded } = this.#ground
    const last = this.#sealed.at(-1)
    const commit = this.tip(this.place.refs.state)
    if (commit === null || commit === loaded.tip.commit) return loaded
    const { tree } = await this.place.repository.commit(commit)
    if (last === undefined) return { ...loaded, tip: { ...loaded.tip, commit, tree } }
    const tip = { commit, tree, seq: last.event.seq + 1, head: last.sha256 }
    const checkpointSeq = this.#checkpointDue() ? tip.seq : loaded.checkpointSeq
    return { campaign: loaded.campaign, tip, lastSha: last.sha256, checkpointSeq, checkpointIgnored: null }
  }

  #checkpointDue(): boolean {
    const last = this.#sealed.at(-1)
    return last !== undefined && isCheckpointDue(last.event.seq + 1, this.#ground.loaded.checkpointSeq)
  }

  async #write(): Promise<Oid> {
    const { loaded } = this.#ground
    const { campaign } = loaded
    const kinds = [...new Set(this.#sealed.map(({ event }) => event.kind))]
    const last = this.#sealed.at(-1)
    return writeLedgerCommit(this.place.repository, loaded.tip, this.#sealed, {
      message: `ledger: ${kinds.join(', ') || 'views'}`,
      ...(this.#spec === undefined ? {} : { spec: this.#spec }),
      ...(this.#renewsViews || kinds.some(kind => VIEW_CHANGES.has(kind))
        ? { views: { ...renderLedgerViews(campaign, getCampaignSpec(campaign)), ...this.#files } }
        : { views: this.#files }),
      ...(last && this.#checkpointDue() ? { checkpoint: buildCheckpoint(campaign, last.sha256) } : {}),
    })
  }

  #circumstances(refs: readonly string[]) {
    const { place } = this
    const { loaded } = this.#ground
    const isPush = loaded.campaign.status === 'none' || getCampaignSpec(loaded.campaign).merge.via === 'push'
    const couldMerge = place.forge.merge !== undefined && isPush
    return { refs, optimize: place.refs.optimize, prefix: place.prefix, couldMerge }
  }

  /**
   * A rule of the remote refuses a branch: what was only observed is still written, with an alert and a pause,
   * so that a person sees the remote's own words; no decision that needed the branch is recorded.
   */
  async #ledgerAlone(refusal: RefusedPush, from: Oid | null): Promise<PushResult> {
    const { repository, refs, by } = this.place
    if (from === null)
      throw new ForgeError(
        renderPushRefusal(refusal, this.#circumstances([...this.#moves.keys()])),
        toRefusalDetail(refusal),
      )
    const chain = openChain(this.#ground.loaded.tip, { at: this.at, by })
    const observed = this.#sealed.filter(({ event }) => OBSERVATIONS.has(event.kind))
    const sealed = observed.map(({ event }) => chain.addEvent(removeEnvelope(event)))
    const wanted = [...this.#moves.keys()].filter(ref => ref !== refs.state)
    sealed.push(...this.#said(refusal, wanted).map(draft => chain.addEvent(draft)))
    const commit = await writeLedgerCommit(repository, this.#ground.loaded.tip, sealed, {
      message: 'ledger: push refused',
    })
    const ledger = { ref: refs.state, from, to: commit }
    const keeper = this.#moves.get(refs.closed)
    let result = await repository.push(keeper ? [ledger, keeper] : [ledger])
    if (!result.ok && keeper && 'message' in result) result = await repository.push([ledger])
    // What was planned did not happen: whoever planned it has to look again, as after a lost race.
    if (result.ok) return { ok: false, reason: 'lease', refs: wanted }
    if (result.reason !== 'refused' && result.reason !== 'atomic-refused') return result
    throw new ForgeError(`the remote refuses even the ledger: ${result.message}`, toRefusalDetail(result))
  }

  /** Whatever cannot be pushed pauses the campaign, but for workflow files of the default branch: it goes on without. */
  #said(refusal: RefusedPush, wanted: readonly string[]): EventDraft[] {
    const { campaign, tip } = this.#ground.loaded
    // The recorded tip, and not what this refused transaction planned beyond it: only the former never comes again.
    const cause = `refused at ${tip.seq}`
    const drafts = this.#sealed.map(({ event }) => removeEnvelope(event))
    const sync = findRefusedSync(refusal.message, drafts)
    if (sync !== null) {
      const { repository, refs } = this.place
      const about = {
        tip: sync,
        optimize: refs.optimize,
        words: refusal.message,
        byApp: repository.canPushWorkflows,
      }
      return [{ kind: 'alert', cause, ...buildRefusedSyncAlert(campaign, about) }]
    }
    const message = renderPushRefusal(refusal, this.#circumstances(wanted))
    return [
      { kind: 'alert', cause, code: 'push-refused', message, about: refusal.rule ?? null },
      { kind: 'campaign-paused', cause, reason: message, source: 'engine' },
    ]
  }
}

type RefusedPush = Extract<PushResult, { message: string }>

function isRefusal(result: PushResult): result is RefusedPush {
  return !result.ok && (result.reason === 'refused' || result.reason === 'atomic-refused')
}

/** An order that was to be dispatched with this push was not issued either. */
const OBSERVATIONS = new Set(['measured', 'order-lost', 'report-rejected', 'head-moved'])
/** Views cost more than an event does: they are written when a round has ended, or the campaign's state changed. */
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
