import { judgeHoldout } from '../../decide/holdout.ts'
import { compareTrees } from '../../git/tree.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { LedgerEvent } from '../../model/event.ts'
import { type Experiment, findSubject } from '../../model/experiment.ts'
import type { Oid, OrderId, Point } from '../../model/ids.ts'
import type { Order } from '../../model/order.ts'
import type { Report } from '../../model/report.ts'
import { readEffectReport } from '../../plan/effects.ts'
import { isHoldoutRequired } from '../../plan/holdout.ts'
import {
  buildDecidedDraft,
  judgeExperiment,
  type Judgement,
  limitSimplification,
} from '../../plan/judgement.ts'
import type { Spec } from '../../spec/schema.ts'
import { compileScope } from '../../spec/scope.ts'
import type { CampaignContext } from '../campaign/context.ts'
import { compareFields } from './replay.ts'

/** Evidence that the ledger holds up to one event. A gap describes what a proof lacks. */
export interface AuditEvidence {
  orders: Map<OrderId, OrderRecord>
  /** Heads with a report, as `exp-001 <commit>`. */
  measuredHeads: Set<string>
  /** Verdicts that land a change, by seq. */
  verdicts: Map<number, LandedVerdict>
  /** The event that made a commit the incumbent, by commit. */
  incumbentEvents: Map<Oid, IncumbentEvent>
  harnessAmended: boolean
  /** Sync commits that brought another harness. */
  harnessChanges: Set<Oid>
}

export interface OrderRecord {
  order: Order
  seq: number
  gaps: string[]
  report: Report | null
}

export interface LandedVerdict {
  event: LedgerEvent<'decided'>
  /** Digest of the event's file. */
  sha256: string
  spec_sha256: string
  order: OrderRecord | null
  gaps: string[]
}

type IncumbentEvent = LedgerEvent<'merged' | 'synced' | 'reverted' | 'foreign-tip'>

export function createEvidence(): AuditEvidence {
  return {
    orders: new Map(),
    measuredHeads: new Set(),
    verdicts: new Map(),
    incumbentEvents: new Map(),
    harnessAmended: false,
    harnessChanges: new Set(),
  }
}

/** One recorded move of the incumbent; `campaign` is the state before the event. */
export interface IncumbentStep {
  place: CampaignContext
  campaign: Campaign
  spec: Spec | null
  evidence: AuditEvidence
  from: Point
  to: Point
}

export async function listAbsentCommits(
  { repository }: CampaignContext,
  oids: readonly Oid[],
): Promise<string[]> {
  const gaps: string[] = []
  for (const oid of oids)
    if (!(await repository.has(oid))) gaps.push(`commit ${oid} is not in the repository`)
  return gaps
}

/** The order that measured exactly this step before the event that relies on it, or the gaps. */
type StepMeasurement = { name: string; order: Order; report: Report } | { gaps: string[] }

export function findStepMeasurement(
  { evidence, from, to }: Pick<IncumbentStep, 'evidence' | 'from' | 'to'>,
  reliance: { order: OrderId; seq: number },
  label: 'foreign' | 'sync',
): StepMeasurement {
  const record = evidence.orders.get(reliance.order)
  const name = `order ${reliance.order.slice(0, 12)}`
  if (!record?.report) return { gaps: [`${name} was not measured before event ${reliance.seq}`] }
  if (record.gaps.length > 0) return { gaps: record.gaps.map(gap => `${name}: ${gap}`) }
  const { order, report } = record
  const [candidate] = order.candidates
  const same = candidate?.label === label && candidate.tree === to.tree && order.base.tree === from.tree
  if (!same || report.trees[label] !== to.tree)
    return { gaps: [`${name} measured another tree than ${to.tree}`] }
  return { name, order, report }
}

interface RecordedVerdict {
  campaign: Campaign
  spec: Spec | null
  order: OrderRecord | null
  /** The order of its holdout test, if any. */
  holdout: OrderRecord | null
  event: LedgerEvent<'decided'>
}

/**
 * Invariant 1: a landing was measured before by an order in force, and judging its report again gives the
 * recorded verdict.
 */
export function findVerdictGaps(verdict: RecordedVerdict): string[] {
  const { campaign, spec, order: record, event } = verdict
  const experiment = findSubject(campaign, event.experiment)
  if (!experiment) return [`${event.experiment} was never opened`]
  if (spec === null) return ['the spec in force cannot be read']
  if (record === null) return [describeMissingOrder(event)]
  const { order, report } = record
  const name = `order ${order.id.slice(0, 12)} (event ${record.seq})`
  if (report === null) return [`${name} was not measured before event ${event.seq} decided`]
  if (record.gaps.length > 0) return record.gaps.map(gap => `${name}: ${gap}`)
  const candidate = order.candidates.find(({ label }) => label === experiment.id)
  if (!candidate) return [`${name} did not measure ${experiment.id}`]
  if (report.trees[experiment.id] !== candidate.tree)
    return [`the report of ${name} does not say that tree ${candidate.tree} was measured`]
  if (order.harness !== campaign.harness) return [`${name} was measured with a harness no longer in force`]
  const measured = { order, report }
  const judgement = limitSimplification(
    campaign,
    experiment,
    measured,
    judgeExperiment(spec, experiment, measured),
  )
  const gaps = findRejudgementGaps(event, judgement, experiment)
  return gaps.length > 0 ? gaps : findHoldoutGaps(spec, experiment, { order, holdout: verdict.holdout })
}

function describeMissingOrder({ seq, order }: LedgerEvent<'decided'>): string {
  return order === null
    ? `its verdict (event ${seq}) names no order, so it was not measured`
    : `its verdict (event ${seq}) names order ${order.slice(0, 12)}, which was never issued`
}

function findRejudgementGaps(
  event: LedgerEvent<'decided'>,
  judgement: Judgement,
  experiment: Campaign['experiments'][string],
): string[] {
  if (judgement.is === 'again') return [`judged again, its report proves nothing: ${judgement.reason}`]
  if (judgement.is === 'final')
    return [`judged again, its report says ${judgement.outcome} (${judgement.reason}), not ${event.outcome}`]
  const { assessment } = judgement
  const { order, outcome, cause } = event
  const again = buildDecidedDraft({
    experiment,
    order,
    outcome,
    assessment,
    reason: assessment.reason,
    cause,
  })
  return compareFields(event, again).map(
    ({ field, recorded, recomputed }) =>
      `its verdict (event ${event.seq}) records ${field} ${JSON.stringify(recorded)}, judged again it is ${JSON.stringify(recomputed)}`,
  )
}

interface TriedHoldout {
  /** The order that proved its gain. */
  order: Order
  holdout: OrderRecord | null
}

/** With a holdout in the spec, every landing needs a passed holdout test of the same two trees. */
function findHoldoutGaps(spec: Spec, experiment: Experiment, { order, holdout }: TriedHoldout): string[] {
  if (!isHoldoutRequired(spec, experiment)) return []
  if (holdout === null) return ['it was not tried on the holdout, which the spec asks for before a merge']
  const { id, stop, base } = holdout.order
  const name = `holdout order ${id.slice(0, 12)} (event ${holdout.seq})`
  if (holdout.gaps.length > 0) return holdout.gaps.map(gap => `${name}: ${gap}`)
  const { report } = holdout
  if (report === null) return [`${name} was not measured before it landed`]
  const landed = order.candidates.find(({ label }) => label === experiment.id)
  const tried = holdout.order.candidates.find(({ label }) => label === experiment.id)
  if (stop.rule !== 'holdout' || tried === undefined || tried.tree !== landed?.tree)
    return [`${name} did not try tree ${landed?.tree ?? 'that landed'}`]
  if (report.trees[experiment.id] !== tried.tree || !isSamePoint(base, order.base))
    return [`${name} tried other trees than those that were measured`]
  const verdict = judgeHoldout({ spec, stop, report, label: experiment.id })
  return verdict.is === 'passed' ? [] : [`${name}, judged again, did not pass`]
}

/** Reads the report again: it has to give the recorded effect of the landing or the campaign. */
export function findEffectGaps(
  { orders }: AuditEvidence,
  campaign: Campaign,
  spec: Spec | null,
  event: LedgerEvent<'effect-measured'>,
): string[] {
  const record = orders.get(event.order)
  if (!record?.report) return [`order ${event.order.slice(0, 12)} was not measured before it`]
  const { order, report, gaps } = record
  const name = `order ${order.id.slice(0, 12)}`
  if (gaps.length > 0) return gaps.map(gap => `${name}: ${gap}`)
  if (spec === null) return ['the spec in force cannot be read']
  const reading = readEffectReport(campaign, spec, { order, report, event: event.cause })
  if (reading.is === 'more') return [`${name} is one job of several, and says nothing by itself`]
  if (reading.is === 'failed') return [`${name} shows no effect: ${reading.reason}`]
  return compareFields(event, reading.draft).map(
    ({ field, recorded, recomputed }) =>
      `it records ${field} ${JSON.stringify(recorded)}, read again it is ${JSON.stringify(recomputed)}`,
  )
}

/** Invariant 4: outside scope.mutable the tree equals the pin, as it was measured. */
export async function findPinGaps({ place: context, campaign, spec, to }: IncumbentStep): Promise<string[]> {
  if (spec === null) return ['the spec in force cannot be read']
  const { pin } = campaign
  const { isMutable } = compileScope(spec)
  const differences = await compareTrees(context.repository, pin.tree, to.tree)
  const first = differences.find(({ path }) => !isMutable(path))
  return first ? [`${first.path} is outside scope.mutable and not as in the pinned commit ${pin.commit}`] : []
}

export function isSamePoint(a: Point, b: Point): boolean {
  return a.commit === b.commit && a.tree === b.tree
}
