import { snapshotOf } from '../../decide/readings.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import type { EventDraft, EventKind, LedgerEvent } from '../../model/event.ts'
import { machineKey } from '../../model/report.ts'
import type { Step } from '../../plan/action.ts'
import { arrivals } from '../../plan/arrivals.ts'
import { effectSteps } from '../../plan/effects.ts'
import { dueBaseline } from '../../plan/landing.ts'
import { parkInterrupted } from '../../plan/lost.ts'
import { pickVerdicts } from '../../plan/picks.ts'
import { prepare } from '../../plan/preparation.ts'
import { settleRound } from '../../plan/round.ts'
import { closeRemaining } from '../../plan/stop.ts'
import type { Spec } from '../../spec/schema.ts'
import type { Place } from '../place.ts'
import { ledgerWorld, memberCandidates } from './ledger-world.ts'

/** The kinds of event that are computed from others and nothing else, so that anybody can compute them again. */
export type Verdict = LedgerEvent<
  'decided' | 'requeued' | 'calibrated' | 'baseline-measured' | 'round-closed' | 'effect-measured'
>

const VERDICTS: ReadonlySet<EventKind> = new Set<Verdict['kind']>([
  'decided',
  'requeued',
  'calibrated',
  'baseline-measured',
  'round-closed',
  'effect-measured',
])

export function isVerdict(event: LedgerEvent): event is Verdict {
  return VERDICTS.has(event.kind)
}

/** What the plan would write on this campaign: the same functions that wrote it then. */
export async function expectedDrafts(place: Place, campaign: Campaign, spec: Spec): Promise<EventDraft[]> {
  const world = ledgerWorld(campaign, spec, await memberCandidates(place, campaign, spec))
  const found = arrivals(world)
  if (campaign.status === 'stopped')
    return [...closeRemaining(world, found), ...effectSteps(world)].flatMap(draftsOf)
  const steps = [
    ...parkInterrupted(world),
    ...effectSteps(world),
    ...pickVerdicts(world, found),
    ...settleRound(world, found).steps,
    ...prepare(world, found).steps,
  ]
  const due = dueBaseline(world)
  return [...steps.flatMap(draftsOf), ...(due ? [due] : [])]
}

function draftsOf(step: Step): EventDraft[] {
  if (step.step === 'event') return [step.draft]
  if (step.step !== 'land') return []
  return step.baseline ? [step.decided, step.baseline] : [step.decided]
}

/** The baselines that syncs bring, each from the report that lets it pass. */
export function syncBaselines(orders: readonly LiveOrder[], spec: Spec): EventDraft[] {
  return orders.flatMap(live => syncBaseline(live, spec) ?? [])
}

function syncBaseline({ order, report }: LiveOrder, spec: Spec): EventDraft | null {
  const [candidate] = order.candidates
  if (!report || candidate === undefined) return null
  return {
    kind: 'baseline-measured',
    cause: report.event,
    order: order.id,
    side: 'sync',
    tree: candidate.tree,
    machine: machineKey(report.report.machine),
    harness: order.harness,
    snapshot: snapshotOf(spec, report.report, 'sync'),
  }
}

/** The draft that is about the same thing as a recorded event. */
export function counterpart(event: Verdict, drafts: readonly EventDraft[]): EventDraft | null {
  return drafts.find(draft => aboutTheSame(event, draft)) ?? null
}

function aboutTheSame(event: Verdict, draft: EventDraft): boolean {
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
