import type { Campaign } from './campaign.ts'
import type { LedgerEvent } from './event.ts'
import type { ExperimentId } from './ids.ts'
import { findSubject } from './picked.ts'

/**
 * Notes which events the results of an experiment are made of. When it ends only those are read again, however long the
 * ledger is.
 */
export function recordResultEvents(campaign: Campaign, event: LedgerEvent): void {
  const { start, spec } = campaign.ruled_by
  const seqs = event.kind === 'order-issued' ? [start, spec, event.seq] : [event.seq]
  for (const id of listAffectedExperiments(campaign, event)) {
    const experiment = findSubject(campaign, id)
    if (experiment === undefined || experiment.closed) continue
    experiment.told_by = [...new Set([...experiment.told_by, ...seqs])]
  }
}

/** The experiments whose results this event has a part in. */
function listAffectedExperiments({ orders }: Campaign, event: LedgerEvent): ExperimentId[] {
  if (event.kind === 'order-issued') return event.candidates.map(({ label }) => label)
  if (event.kind === 'decided') return [event.experiment]
  const isOfOrder =
    event.kind === 'measured' || event.kind === 'order-lost' || event.kind === 'report-rejected'
  return isOfOrder ? (orders[event.order]?.order.candidates.map(({ label }) => label) ?? []) : []
}
