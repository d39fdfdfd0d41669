import type { Campaign } from '../../model/campaign.ts'
import type { LedgerEvent } from '../../model/event.ts'
import { readEffectReport } from '../../plan/effect-reading.ts'
import type { Spec } from '../../spec/schema.ts'
import { compareFields } from '../replay/compare.ts'
import type { AuditEvidence } from './evidence.ts'

/** What is reported of a landing or the campaign is what the report on it says, read again. */
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
