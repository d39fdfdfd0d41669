import { readEvents } from '../ledger/read-events.ts'
import { type Campaign, createEmptyCampaign, type LiveOrder } from '../model/campaign.ts'
import type { EventDraft, EventKind, LedgerEvent } from '../model/event.ts'
import { applyEvent } from '../model/fold.ts'
import type { ExperimentId } from '../model/ids.ts'
import type { CampaignContext } from './place.ts'
import { requireLedger } from './recover.ts'
import { compareClosing } from './replay/closing.ts'
import { compareFields, type FieldDifference } from './replay/compare.ts'
import {
  findCounterpart,
  computeExpectedDrafts,
  isVerdict,
  listSyncBaselines,
  type VerdictEvent,
} from './replay/expected.ts'
import { readCampaignSpec } from '../spec/recorded-spec.ts'

export interface ReplayDifference extends FieldDifference {
  seq: number
  experiment: ExperimentId | null
}

export interface ReplayResult {
  ok: boolean
  decisions: number
  rounds: number
  differences: ReplayDifference[]
}

/** Invariant 3: every verdict is computed again from the events before it, and nothing else. */
export async function replayLedger(place: CampaignContext): Promise<ReplayResult> {
  const { repository, refs } = place
  const wanted = [refs.state, refs.optimize, refs.closed, `${refs.experiments}*`]
  const found = await repository.remoteRefs(wanted)
  const tip = await requireLedger(place, found.refs)
  await repository.fetch([...found.refs].map(([ref, oid]) => ({ ref, oid })))
  const player = new ReplayRun(place)
  for await (const event of readEvents(repository, tip, 0)) await player.play(event)
  const { decisions, rounds, differences } = player
  return { ok: differences.length === 0, decisions, rounds, differences }
}

/** What one transaction may hold between two verdicts that were planned together. */
const TOGETHER: ReadonlySet<EventKind> = new Set([
  'decided',
  'closed',
  'merged',
  'incumbent-moved',
  'reverted',
  'calibrated',
  'baseline-measured',
  'round-closed',
  'effect-measured',
])

class ReplayRun {
  decisions = 0
  rounds = 0
  readonly differences: ReplayDifference[] = []
  readonly #place: CampaignContext
  readonly #campaign: Campaign = createEmptyCampaign()
  /** What the plan that wrote the last verdict would write besides it. */
  #planned: EventDraft[] = []
  /** The order of a sync is forgotten with the event that adopts it, before its baseline is recorded. */
  #syncs: LiveOrder[] = []

  constructor(place: CampaignContext) {
    this.#place = place
  }

  async play(event: LedgerEvent): Promise<void> {
    if (!TOGETHER.has(event.kind)) this.#planned = []
    if (event.kind === 'decided') this.decisions += 1
    if (event.kind === 'round-closed') this.rounds += 1
    if (isVerdict(event)) this.#record(event, await this.#differences(event))
    if (event.kind === 'closed') this.#record(event, compareClosing(this.#campaign, event))
    this.#rememberSync(event)
    applyEvent(this.#campaign, event)
  }

  #record(event: LedgerEvent, found: readonly FieldDifference[]): void {
    const experiment = 'experiment' in event ? event.experiment : null
    this.differences.push(...found.map(difference => ({ seq: event.seq, experiment, ...difference })))
  }

  /**
   * Verdicts of one plan are recorded one after the other, and each changes the campaign: a later one is as
   * that plan had it, or else as a plan made just before it has it.
   */
  async #differences(event: VerdictEvent): Promise<FieldDifference[]> {
    const planned = findCounterpart(event, this.#planned)
    if (planned && compareFields(event, planned).length === 0) return []
    const spec = readCampaignSpec(this.#campaign)
    if (spec === null) return [{ field: 'spec', recorded: this.#campaign.spec_sha256, recomputed: null }]
    const drafts = await computeExpectedDrafts(this.#place, this.#campaign, spec)
    drafts.push(...listSyncBaselines(this.#syncs, spec))
    const now = findCounterpart(event, drafts)
    if (now !== null || planned === null) this.#planned = drafts
    const expected = now ?? planned
    if (expected) return compareFields(event, expected)
    return [{ field: event.kind, recorded: formatRecorded(event), recomputed: null }]
  }

  #rememberSync({ kind }: LedgerEvent): void {
    if (kind === 'campaign-amended' || kind === 'synced') {
      const live = Object.values(this.#campaign.orders)
      this.#syncs.push(...live.filter(({ order }) => order.purpose === 'sync'))
    } else if (kind !== 'incumbent-moved') this.#syncs = []
  }
}

function formatRecorded(event: VerdictEvent): string {
  return event.kind === 'decided' ? event.outcome : event.kind
}
