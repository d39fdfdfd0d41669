import { buildSnapshot } from '../../decide/metrics.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import { toCanonicalJson } from '../../model/canonical-json.ts'
import type { EventDraft, EventKind, LedgerEvent } from '../../model/event.ts'
import { findSubject } from '../../model/experiment.ts'
import type { ExperimentId } from '../../model/ids.ts'
import { buildMachineKey } from '../../model/report.ts'
import type { Outcome } from '../../model/verdict.ts'
import type { PlanStep } from '../../plan/action.ts'
import { reportEffects } from '../../plan/effects.ts'
import { findDueBaseline, stopAfterRepeatedLoss } from '../../plan/landing.ts'
import { judgePicks } from '../../plan/picks.ts'
import { planBase } from '../../plan/preparation.ts'
import { planProbes } from '../../plan/probes.ts'
import { readReports } from '../../plan/reports.ts'
import { settleRound } from '../../plan/round.ts'
import { closeRemaining } from '../../plan/stop.ts'
import type { CandidateFacts, World } from '../../plan/world.ts'
import type { Spec } from '../../spec/schema.ts'
import type { CampaignContext } from '../campaign/context.ts'
import { readCandidateFacts } from '../observe/candidate-facts.ts'
import { readProbeFacts } from '../observe/probe-facts.ts'

export interface VerdictDifference extends FieldDifference {
  seq: number
  experiment: ExperimentId | null
}

/** Events that one transaction may contain between two verdicts of the same plan. */
const SAME_TRANSACTION: ReadonlySet<EventKind> = new Set([
  'decided',
  'closed',
  'merged',
  'incumbent-moved',
  'reverted',
  'calibrated',
  'baseline-measured',
  'probed',
  'round-closed',
  'effect-measured',
  'order-lost',
  'requeued',
])

/** Invariant 3: computes every verdict again from the events before it only. */
export class VerdictCheck {
  decisions = 0
  rounds = 0
  readonly differences: VerdictDifference[] = []
  readonly #context: CampaignContext
  /** The other drafts of the plan that wrote the last verdict. */
  #planned: EventDraft[] = []
  /** Kept here, because the adopting event removes the order before its baseline is recorded. */
  #syncs: LiveOrder[] = []

  constructor(context: CampaignContext) {
    this.#context = context
  }

  /** `campaign` and `spec` are those before the event. */
  async check(event: LedgerEvent, campaign: Campaign, spec: Spec | null): Promise<void> {
    if (!SAME_TRANSACTION.has(event.kind)) this.#planned = []
    // A stop records lost orders first. What it does with their ideas was planned before that.
    if (event.kind === 'order-lost' && campaign.status === 'stopped' && spec !== null)
      this.#planned = await computeExpectedDrafts(this.#context, campaign, spec)
    if (event.kind === 'decided') this.decisions += 1
    if (event.kind === 'round-closed') this.rounds += 1
    if (isVerdict(event)) this.#record(event, await this.#compareVerdict(event, campaign, spec))
    if (event.kind === 'closed') this.#record(event, compareClosing(campaign, event))
    this.#rememberSync(event, campaign)
  }

  #record(event: LedgerEvent, found: readonly FieldDifference[]): void {
    const experiment = 'experiment' in event ? event.experiment : null
    this.differences.push(...found.map(difference => ({ seq: event.seq, experiment, ...difference })))
  }

  /** A verdict matches the plan of the verdict before it, or one computed just before. */
  async #compareVerdict(
    event: VerdictEvent,
    campaign: Campaign,
    spec: Spec | null,
  ): Promise<FieldDifference[]> {
    const planned = findCounterpart(event, this.#planned)
    if (planned && compareFields(event, planned).length === 0) return []
    if (spec === null) return [{ field: 'spec', recorded: campaign.spec_sha256, recomputed: null }]
    const drafts = await computeExpectedDrafts(this.#context, campaign, spec)
    drafts.push(...listSyncBaselines(this.#syncs, spec))
    const now = findCounterpart(event, drafts)
    if (now !== null || planned === null) this.#planned = drafts
    const expected = now ?? planned
    if (expected) return compareFields(event, expected)
    const recorded = event.kind === 'decided' ? event.outcome : event.kind
    return [{ field: event.kind, recorded, recomputed: null }]
  }

  #rememberSync({ kind }: LedgerEvent, { orders }: Campaign): void {
    if (kind === 'campaign-amended' || kind === 'synced') {
      const live = Object.values(orders)
      this.#syncs.push(...live.filter(({ order }) => order.purpose === 'sync'))
    } else if (kind !== 'incumbent-moved') this.#syncs = []
  }
}

type VerdictEvent = LedgerEvent<
  'decided' | 'requeued' | 'calibrated' | 'baseline-measured' | 'probed' | 'round-closed' | 'effect-measured'
>

/** The field that names the subject of a verdict, by its kind. */
const SUBJECTS: Readonly<Record<VerdictEvent['kind'], string>> = {
  decided: 'experiment',
  requeued: 'experiment',
  calibrated: 'order',
  'baseline-measured': 'order',
  probed: 'harness',
  'round-closed': 'round',
  'effect-measured': 'order',
}

function isVerdict(event: LedgerEvent): event is VerdictEvent {
  return Object.hasOwn(SUBJECTS, event.kind)
}

/** Computes what the plan would write, with the same functions that wrote it. */
async function computeExpectedDrafts(
  context: CampaignContext,
  campaign: Campaign,
  spec: Spec,
): Promise<EventDraft[]> {
  const candidates = await readMemberCandidates(context, campaign, spec)
  const probes = await readProbeFacts(context.repository, { campaign, spec, runner: { machine: null } })
  const world = buildLedgerWorld(campaign, spec, { candidates, probes })
  const found = readReports(world)
  if (campaign.status === 'stopped')
    return [...closeRemaining(world, found), ...reportEffects(world)].flatMap(listStepDrafts)
  const steps = [
    ...stopAfterRepeatedLoss(world),
    ...reportEffects(world),
    ...judgePicks(world, found),
    ...settleRound(world, found).steps,
    ...planBase(world, found).steps,
    ...planProbes(world, found).steps,
  ]
  const due = findDueBaseline(world)
  return [...steps.flatMap(listStepDrafts), ...(due ? [due] : [])]
}

function listStepDrafts(step: PlanStep): EventDraft[] {
  if (step.step === 'event') return [step.draft]
  if (step.step !== 'land') return []
  return step.baseline ? [step.decided, step.baseline] : [step.decided]
}

function listSyncBaselines(orders: readonly LiveOrder[], spec: Spec): EventDraft[] {
  return orders.flatMap(({ order, report }): EventDraft | [] => {
    const [candidate] = order.candidates
    if (!report || candidate === undefined) return []
    return {
      kind: 'baseline-measured',
      cause: report.event,
      order: order.id,
      side: 'sync',
      tree: candidate.tree,
      machine: buildMachineKey(report.report.machine),
      harness: order.harness,
      snapshot: buildSnapshot(spec, report.report, 'sync'),
    }
  })
}

function findCounterpart(event: VerdictEvent, drafts: readonly EventDraft[]): EventDraft | null {
  const getSubject = (fields: object) => new Map(Object.entries(fields)).get(SUBJECTS[event.kind])
  const subject = getSubject(event)
  return drafts.find(draft => draft.kind === event.kind && getSubject(draft) === subject) ?? null
}

/** Only what a verdict depends on, ledger and git objects (invariant 3). */
function buildLedgerWorld(
  campaign: Campaign,
  spec: Spec,
  { candidates, probes }: Pick<World, 'candidates' | 'probes'>,
): World {
  return {
    now: campaign.started_at ?? '',
    entropy: '',
    campaign,
    spec,
    optimizeTip: campaign.incumbent,
    campaignTip: null,
    defaultTip: campaign.pin,
    pulls: [],
    branches: new Map(),
    proposals: [],
    unopened: 0,
    outsiders: new Map(),
    stacked: new Map(),
    candidates,
    releases: null,
    sync: null,
    foreign: null,
    branchMismatch: null,
    holdout: null,
    probes,
    reverts: new Map(),
    picks: new Map(),
    runs: new Map(),
    runner: { runId: null, machine: null, external: false },
    askable: [],
    asking: [],
    asks: 'here',
    answers: [],
    scores: [],
    lost: [],
    setAsideUsd: 0,
    judgeJob: false,
    targetBranch: null,
  }
}

/** Merges the measured members of the open round with the incumbent again, for ranking and combinations. */
async function readMemberCandidates(
  { repository }: CampaignContext,
  campaign: Campaign,
  spec: Spec,
): Promise<Map<ExperimentId, CandidateFacts>> {
  const found = new Map<ExperimentId, CandidateFacts>()
  if (!campaign.round?.open) return found
  for (const id of campaign.round.members) {
    const experiment = campaign.experiments[id]
    const head = experiment?.head ?? null
    if (head === null || experiment?.status !== 'measured' || !(await repository.has(head))) continue
    const { incumbent } = campaign
    found.set(id, await readCandidateFacts({ repository, campaign, spec, incumbent, head, unsynced: null }))
  }
  return found
}

/** Outcomes without a report: a person's decision, a refusal or the end of the campaign. */
const WITHOUT_VERDICT: ReadonlySet<Outcome> = new Set(['refused', 'withdrawn', 'inconclusive'])

/** A closing repeats its verdict. A measured experiment needs one. */
function compareClosing(campaign: Campaign, event: LedgerEvent<'closed'>): FieldDifference[] {
  const experiment = findSubject(campaign, event.experiment)
  if (!experiment) return [{ field: 'experiment', recorded: event.experiment, recomputed: null }]
  if (experiment.status !== 'ended') {
    if (WITHOUT_VERDICT.has(event.outcome)) return []
    return [{ field: 'decided', recorded: null, recomputed: event.outcome }]
  }
  const { outcome, reason } = experiment
  const fields = [
    { field: 'outcome', recorded: event.outcome, recomputed: outcome },
    { field: 'reason', recorded: event.reason, recomputed: reason },
  ]
  return fields.filter(({ recorded, recomputed }) => recorded !== recomputed)
}

interface FieldDifference {
  field: string
  recorded: unknown
  recomputed: unknown
}

const UNCOMPARED_FIELDS = new Set(['kind', 'cause'])

/** As canonical JSON; null stands for a missing field. */
export function compareFields(event: LedgerEvent, draft: EventDraft): FieldDifference[] {
  const recorded = new Map<string, unknown>(Object.entries(event))
  return Object.entries(draft).flatMap(([field, recomputed]) => {
    const recordedValue = recorded.get(field) ?? null
    if (
      UNCOMPARED_FIELDS.has(field) ||
      toCanonicalJson(recordedValue) === toCanonicalJson(recomputed ?? null)
    )
      return []
    return [{ field, recorded: recordedValue, recomputed: recomputed ?? null }]
  })
}
