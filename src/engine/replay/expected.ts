import { buildSnapshot } from '../../decide/readings.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import type { EventDraft, EventKind, LedgerEvent } from '../../model/event.ts'
import { buildMachineKey } from '../../model/report.ts'
import type { PlanStep } from '../../plan/action.ts'
import { readReports } from '../../plan/arrivals.ts'
import { reportEffects } from '../../plan/effects.ts'
import { findDueBaseline } from '../../plan/landing.ts'
import { parkRepeatedlyLost } from '../../plan/lost.ts'
import { judgePicks } from '../../plan/picks.ts'
import { planBase } from '../../plan/preparation.ts'
import { settleRound } from '../../plan/round.ts'
import { closeRemaining } from '../../plan/stop.ts'
import type { Spec } from '../../spec/schema.ts'
import type { CampaignContext } from '../place.ts'
import { buildLedgerWorld, readMemberCandidates } from './ledger-world.ts'

/** The kinds of event that are computed from others and nothing else, so that anybody can compute them again. */
export type VerdictEvent = LedgerEvent<
  'decided' | 'requeued' | 'calibrated' | 'baseline-measured' | 'round-closed' | 'effect-measured'
>

const VERDICTS: ReadonlySet<EventKind> = new Set<VerdictEvent['kind']>([
  'decided',
  'requeued',
  'calibrated',
  'baseline-measured',
  'round-closed',
  'effect-measured',
])

export function isVerdict(event: LedgerEvent): event is VerdictEvent {
  return VERDICTS.has(event.kind)
}

/** What the plan would write on this campaign: the same functions that wrote it then. */
export async function computeExpectedDrafts(
  place: CampaignContext,
  campaign: Campaign,
  spec: Spec,
): Promise<EventDraft[]> {
  const world = buildLedgerWorld(campaign, spec, await readMemberCandidates(place, campaign, spec))
  const found = readReports(world)
  if (campaign.status === 'stopped')
    return [...closeRemaining(world, found), ...reportEffects(world)].flatMap(listStepDrafts)
  const steps = [
    ...parkRepeatedlyLost(world),
    ...reportEffects(world),
    ...judgePicks(world, found),
    ...settleRound(world, found).steps,
    ...planBase(world, found).steps,
  ]
  const due = findDueBaseline(world)
  return [...steps.flatMap(listStepDrafts), ...(due ? [due] : [])]
}

function listStepDrafts(step: PlanStep): EventDraft[] {
  if (step.step === 'event') return [step.draft]
  if (step.step !== 'land') return []
  return step.baseline ? [step.decided, step.baseline] : [step.decided]
}

/** The baselines that syncs bring, each from the report that lets it pass. */
export function listSyncBaselines(orders: readonly LiveOrder[], spec: Spec): EventDraft[] {
  return orders.flatMap(live => toSyncBaseline(live, spec) ?? [])
}

function toSyncBaseline({ order, report }: LiveOrder, spec: Spec): EventDraft | null {
  const [candidate] = order.candidates
  if (!report || candidate === undefined) return null
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
}

/** The draft that is about the same thing as a recorded event. */
export function findCounterpart(event: VerdictEvent, drafts: readonly EventDraft[]): EventDraft | null {
  return drafts.find(draft => isAboutSame(event, draft)) ?? null
}

function isAboutSame(event: VerdictEvent, draft: EventDraft): boolean {
  switch (event.kind) {
    case 'decided':
      return draft.kind === 'decided' && draft.experiment === event.experiment
    case 'requeued':
      return draft.kind === 'requeued' && draft.experiment === event.experiment
    case 'calibrated':
      return draft.kind === 'calibrated' && draft.order === event.order
    case 'effect-measured':
      return draft.kind === 'effect-measured' && draft.order === event.order
    case 'baseline-measured':
      return draft.kind === 'baseline-measured' && draft.order === event.order
    case 'round-closed':
      return draft.kind === 'round-closed' && draft.round === event.round
    default:
      return event satisfies never
  }
}
