import { judgeHoldout } from '../../decide/holdout.ts'
import { listDecisiveMetrics } from '../../decide/metrics.ts'
import { explainUnrecordedScores } from '../../judge/judged-report.ts'
import { buildRubric } from '../../judge/rubric.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import { hashSha256, toCanonicalJson } from '../../model/canonical-json.ts'
import type { LedgerEvent } from '../../model/event.ts'
import { type Experiment, findSubject } from '../../model/experiment.ts'
import { isSamePoint, type Oid, type OrderId } from '../../model/ids.ts'
import { isJudgedOrder, type Order } from '../../model/order.ts'
import type { Report } from '../../model/report.ts'
import { isLanded } from '../../model/verdict.ts'
import { readEffectReport } from '../../plan/effects.ts'
import { isHoldoutRequired } from '../../plan/holdout.ts'
import {
  buildDecidedDraft,
  judgeExperiment,
  type Judgement,
  limitSimplification,
} from '../../plan/judgement.ts'
import { explainForeignPartial, explainForeignReport } from '../../plan/reports.ts'
import type { Spec } from '../../spec/schema.ts'
import { countJudges } from '../../spec/spec-facts.ts'
import { findOrderGaps } from './orders.ts'
import { compareFields } from './verdicts.ts'

/** Evidence that the ledger holds up to one event. A gap describes what a proof lacks. */
export interface AuditEvidence {
  orders: Map<OrderId, OrderRecord>
  /** Heads with a report, as `exp-001 <commit>`. */
  measuredHeads: Set<string>
  /** Verdicts that land a change, by seq. */
  verdicts: Map<number, LandedVerdict>
  /** The event that made a commit the incumbent, by commit. */
  incumbentEvents: Map<Oid, IncumbentEvent>
  /** Set while the latest event brought a spec from the default branch, with the harness before it. */
  broughtSpec: { seq: number; harness: string } | null
  /** Sync commits that brought another harness. */
  harnessChanges: Set<Oid>
  incumbents: Set<Oid>
  /** Commits that the closed branch has to keep. */
  kept: KeptCommit[]
  syncedTips: Oid[]
}

export interface KeptCommit {
  commit: Oid
  seq: number
  what: string
}

export interface OrderRecord {
  order: Order
  seq: number
  gaps: string[]
  report: Report | null
}

export interface LandedVerdict {
  event: LedgerEvent<'decided'>
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
    broughtSpec: null,
    harnessChanges: new Set(),
    incumbents: new Set(),
    kept: [],
    syncedTips: [],
  }
}

/** Adds an event to the evidence; `campaign` is the state before it. Returns its gaps. */
export function collectEvidence(
  evidence: AuditEvidence,
  campaign: Campaign,
  spec: Spec | null,
  event: LedgerEvent,
): string[] {
  recordBranchPositions(evidence, event)
  recordHarnessChange(evidence, campaign, event)
  if (event.kind === 'order-issued') return recordIssuedOrder(evidence, campaign, spec, event)
  if (event.kind === 'measured') return recordReport(evidence, campaign, spec, event)
  if (event.kind === 'order-lost') return recordInterruption(evidence, campaign, event)
  if (event.kind === 'effect-measured') return findEffectGaps(evidence, campaign, spec, event)
  if (event.kind === 'decided') recordDecision(evidence, campaign, spec, event)
  else recordIncumbentEvent(evidence, event)
  return []
}

/** A revert by an experiment is a landing and is proven as one. */
function recordIncumbentEvent({ incumbentEvents }: AuditEvidence, event: LedgerEvent): void {
  if (event.kind === 'merged') incumbentEvents.set(event.commit, event)
  else if (event.kind === 'synced') incumbentEvents.set(event.to.commit, event)
  else if (event.kind === 'reverted' && event.by_experiment === null)
    incumbentEvents.set(event.to.commit, event)
  else if (event.kind === 'foreign-tip' && event.state === 'adopted')
    incumbentEvents.set(event.to.commit, event)
}

/** The event before a sync puts its spec in force. */
function recordHarnessChange(evidence: AuditEvidence, { harness }: Campaign, event: LedgerEvent): void {
  if (event.kind === 'synced') {
    const before = evidence.broughtSpec?.harness ?? harness
    if (event.harness !== harness || before !== harness) evidence.harnessChanges.add(event.to.commit)
  }
  const brings = event.kind === 'campaign-amended' && event.source === 'default-branch'
  evidence.broughtSpec = brings ? { seq: event.seq, harness } : null
}

function recordBranchPositions(evidence: AuditEvidence, event: LedgerEvent): void {
  evidence.kept.push(...listKeptCommits(event, evidence))
  if (event.kind === 'campaign-started') evidence.incumbents.add(event.start.commit)
  if (event.kind === 'incumbent-moved') evidence.incumbents.add(event.to.commit)
  if (event.kind === 'synced') evidence.syncedTips.push(event.default_tip)
}

function listKeptCommits(event: LedgerEvent, { measuredHeads }: AuditEvidence): KeptCommit[] {
  const { seq } = event
  if (event.kind === 'merged')
    return [{ commit: event.commit, seq, what: `the landing of ${event.experiment}` }]
  if (event.kind === 'reverted')
    return [{ commit: event.to.commit, seq, what: `the revert of ${event.experiment}` }]
  if (event.kind === 'foreign-tip' && event.state === 'found')
    return [{ commit: event.to.commit, seq, what: 'a foreign tip' }]
  if (event.kind !== 'closed' || event.head === null) return []
  const { experiment, head } = event
  const measured = measuredHeads.has(`${experiment} ${head}`)
  return measured ? [{ commit: head, seq, what: `the measured head of ${experiment}` }] : []
}

function recordIssuedOrder(
  evidence: AuditEvidence,
  campaign: Campaign,
  spec: Spec | null,
  event: LedgerEvent<'order-issued'>,
): string[] {
  const { seq, id, kind: _kind, at: _at, by: _by, cause: _cause, prev: _prev, ...terms } = event
  const order: Order = { id, ...terms }
  const gaps = findOrderGaps(campaign, spec, order)
  evidence.orders.set(id, { order, seq, gaps, report: null })
  return gaps
}

/** Only the first report of a live order counts; any other changes no state and is not checked. */
function recordReport(
  evidence: AuditEvidence,
  campaign: Campaign,
  spec: Spec | null,
  event: LedgerEvent<'measured'>,
): string[] {
  const live = campaign.orders[event.order]
  const record = evidence.orders.get(event.order)
  if (!live || live.report || !record) return []
  record.report = event.report
  for (const { label, head } of record.order.candidates) evidence.measuredHeads.add(`${label} ${head}`)
  const mismatch =
    explainForeignReport(record.order, event.report) ?? explainOtherScores(live, spec, event.report)
  if (mismatch === null) return []
  const gap = `its report (event ${event.seq}) is not an answer to it: ${mismatch}`
  record.gaps = [...record.gaps, gap]
  return [gap]
}

/** Scores of local judges are in the report alone; those of judging jobs are in the ledger before it. */
function explainOtherScores(live: LiveOrder, spec: Spec | null, report: Report): string | null {
  const judge = spec?.metric.judge ?? null
  if (judge === null || spec === null || !isJudgedOrder(live.order, spec)) return null
  if (live.printed === null && live.scores === null) return null
  const { direction } = spec.metric.primary
  const { primary, others } = buildRubric({ primary: spec.metric.primary, judge })
  return explainUnrecordedScores(live.order, report, live.scores?.records ?? [], {
    primary,
    direction,
    fields: [primary, ...others],
    deciding: listDecisiveMetrics(spec),
    judges: countJudges(judge),
  })
}

/** Pairs of a lost run count like those of a report. */
function recordInterruption(
  evidence: AuditEvidence,
  campaign: Campaign,
  event: LedgerEvent<'order-lost'>,
): string[] {
  const record = evidence.orders.get(event.order)
  if (event.partial === undefined || !campaign.orders[event.order] || !record) return []
  const mismatch = explainForeignPartial(record.order, event.partial)
  return mismatch === null
    ? []
    : [`what its lost run left (event ${event.seq}) is not an answer to it: ${mismatch}`]
}

function recordDecision(
  evidence: AuditEvidence,
  campaign: Campaign,
  spec: Spec | null,
  event: LedgerEvent<'decided'>,
): void {
  if (!isLanded(event.outcome)) return
  const order = event.order === null ? null : (evidence.orders.get(event.order) ?? null)
  const holdoutId = campaign.experiments[event.experiment]?.holdout ?? null
  const holdout = holdoutId === null ? null : (evidence.orders.get(holdoutId) ?? null)
  const gaps = findVerdictGaps({ campaign, spec, order, holdout, event })
  const { spec_sha256 } = campaign
  // The canonical JSON is the event's file: reading the ledger has verified that.
  const sha256 = hashSha256(`${toCanonicalJson(event)}\n`)
  evidence.verdicts.set(event.seq, { event, sha256, spec_sha256, order, gaps })
}

export interface OrderMeasurement {
  name: string
  order: Order
  report: Report
}

export interface MissingEvidence {
  gaps: string[]
}

/** Or the reasons why event `seq` cannot rely on it. */
export function findMeasurement(
  { orders }: AuditEvidence,
  { order: id, seq }: { order: OrderId; seq: number },
): OrderMeasurement | MissingEvidence {
  const record = orders.get(id)
  const name = `order ${id.slice(0, 12)}`
  if (!record?.report) return { gaps: [`${name} was not measured before event ${seq}`] }
  const { order, report, gaps } = record
  return gaps.length > 0 ? { gaps: gaps.map(gap => `${name}: ${gap}`) } : { name, order, report }
}

interface RecordedVerdict {
  campaign: Campaign
  spec: Spec | null
  order: OrderRecord | null
  holdout: OrderRecord | null
  event: LedgerEvent<'decided'>
}

/** Invariant 1: an order in force measured it before, and its report gives this verdict again. */
function findVerdictGaps(verdict: RecordedVerdict): string[] {
  const { campaign, spec, order: record, event } = verdict
  const experiment = findSubject(campaign, event.experiment)
  if (!experiment) return [`${event.experiment} was never opened`]
  if (spec === null) return ['the spec in force cannot be read']
  if (record === null)
    return event.order === null
      ? [`its verdict (event ${event.seq}) names no order, so it was not measured`]
      : [`its verdict (event ${event.seq}) names order ${event.order.slice(0, 12)}, which was never issued`]
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
  const judged = judgeExperiment(spec, experiment, measured)
  const judgement = limitSimplification(campaign, experiment, measured, judged)
  const gaps = findRejudgementGaps(event, judgement, experiment)
  return gaps.length > 0 ? gaps : findHoldoutGaps(spec, experiment, { order, holdout: verdict.holdout })
}

function findRejudgementGaps(
  event: LedgerEvent<'decided'>,
  judgement: Judgement,
  experiment: Campaign['experiments'][string],
): string[] {
  if (judgement.is === 'retry') return [`judged again, its report proves nothing: ${judgement.reason}`]
  if (judgement.is === 'final')
    return [`judged again, its report says ${judgement.outcome} (${judgement.reason}), not ${event.outcome}`]
  const { assessment } = judgement
  const { order, outcome, cause } = event
  const { reason } = assessment
  const again = buildDecidedDraft({ experiment, order, outcome, assessment, reason, cause })
  return compareFields(event, again).map(
    ({ field, recorded, recomputed }) =>
      `its verdict (event ${event.seq}) records ${field} ${JSON.stringify(recorded)}, judged again it is ${JSON.stringify(recomputed)}`,
  )
}

interface TriedHoldout {
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
function findEffectGaps(
  evidence: AuditEvidence,
  campaign: Campaign,
  spec: Spec | null,
  event: LedgerEvent<'effect-measured'>,
): string[] {
  const measured = findMeasurement(evidence, event)
  if ('gaps' in measured) return measured.gaps
  const { name, order, report } = measured
  if (spec === null) return ['the spec in force cannot be read']
  const reading = readEffectReport(campaign, spec, { order, report, event: event.cause })
  if (reading.is === 'needs-more-pairs') return [`${name} is one job of several, and says nothing by itself`]
  if (reading.is === 'failed') return [`${name} shows no effect: ${reading.reason}`]
  return compareFields(event, reading.draft).map(
    ({ field, recorded, recomputed }) =>
      `it records ${field} ${JSON.stringify(recorded)}, read again it is ${JSON.stringify(recomputed)}`,
  )
}
