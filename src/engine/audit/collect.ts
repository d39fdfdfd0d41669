import type { Campaign } from '../../model/campaign.ts'
import { toCanonicalJson, hashSha256 } from '../../model/canonical.ts'
import type { LedgerEvent } from '../../model/event.ts'
import type { Order } from '../../model/order.ts'
import { isLanded } from '../../model/outcome.ts'
import { explainForeignPartial, explainForeignReport } from '../../plan/arrivals.ts'
import type { Spec } from '../../spec/schema.ts'
import { findEffectGaps } from './effect.ts'
import type { AuditEvidence } from './evidence.ts'
import { findOrderGaps } from './order-in-force.ts'
import { findVerdictGaps } from './verdict.ts'

/** Takes an event into the evidence, on the campaign as it was just before; answers what is wrong with it. */
export function collectEvidence(
  evidence: AuditEvidence,
  campaign: Campaign,
  spec: Spec | null,
  event: LedgerEvent,
): string[] {
  if (event.kind === 'order-issued') return recordIssuedOrder(evidence, campaign, spec, event)
  if (event.kind === 'measured') return recordReport(evidence, campaign, event)
  if (event.kind === 'order-lost') return recordInterruption(evidence, campaign, event)
  if (event.kind === 'effect-measured') return findEffectGaps(evidence, campaign, spec, event)
  if (event.kind === 'decided') recordDecision(evidence, campaign, spec, event)
  else recordIncumbentEvent(evidence, campaign, event)
  return []
}

/** A revert that an experiment made is a landing, and proven as one. */
function recordIncumbentEvent(evidence: AuditEvidence, campaign: Campaign, event: LedgerEvent): void {
  const { incumbentEvents: grounds } = evidence
  recordHarnessChange(evidence, campaign, event)
  if (event.kind === 'merged') grounds.set(event.commit, event)
  else if (event.kind === 'synced') grounds.set(event.to.commit, event)
  else if (event.kind === 'reverted' && event.by_experiment === null) grounds.set(event.to.commit, event)
  else if (event.kind === 'foreign-tip' && event.state === 'adopted') grounds.set(event.to.commit, event)
}

/** A spec that comes in with a sync is put in force by the event before it. */
function recordHarnessChange(evidence: AuditEvidence, campaign: Campaign, event: LedgerEvent): void {
  if (event.kind === 'campaign-amended' && event.source === 'default-branch')
    evidence.harnessAmended ||= event.harness !== campaign.harness
  if (event.kind !== 'synced') return
  if (evidence.harnessAmended || event.harness !== campaign.harness)
    evidence.harnessChanges.add(event.to.commit)
  evidence.harnessAmended = false
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

/** The first report of a live order counts; any other changes nothing, so nothing is asked of it. */
function recordReport(evidence: AuditEvidence, campaign: Campaign, event: LedgerEvent<'measured'>): string[] {
  const live = campaign.orders[event.order]
  const record = evidence.orders.get(event.order)
  if (!live || live.report || !record) return []
  record.report = event.report
  for (const { label, head } of record.order.candidates) evidence.measuredHeads.add(`${label} ${head}`)
  const mismatch = explainForeignReport(record.order, event.report)
  if (mismatch === null) return []
  const gap = `its report (event ${event.seq}) is not an answer to it: ${mismatch}`
  record.gaps = [...record.gaps, gap]
  return [gap]
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
  const tried = campaign.experiments[event.experiment]?.holdout ?? null
  const holdout = tried === null ? null : (evidence.orders.get(tried) ?? null)
  const gaps = findVerdictGaps({ campaign, spec, order, holdout, event })
  const { spec_sha256 } = campaign
  evidence.verdicts.set(event.seq, { event, sha256: computeEventDigest(event), spec_sha256, order, gaps })
}

/** Reading the ledger has shown that an event's file is exactly this. */
function computeEventDigest(event: LedgerEvent): string {
  return hashSha256(`${toCanonicalJson(event)}\n`)
}
