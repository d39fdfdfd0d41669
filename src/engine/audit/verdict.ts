import type { Campaign } from '../../model/campaign.ts'
import { findSubject } from '../../model/picked.ts'
import type { LedgerEvent } from '../../model/event.ts'
import { buildDecidedDraft, type Judgement, judgeExperiment } from '../../plan/judgement.ts'
import { limitSimplification } from '../../plan/simplification.ts'
import type { Spec } from '../../spec/schema.ts'
import { compareFields } from '../replay/compare.ts'
import type { OrderRecord } from './evidence.ts'
import { findHoldoutGaps } from './holdout.ts'

export interface RecordedVerdict {
  campaign: Campaign
  spec: Spec | null
  order: OrderRecord | null
  /** The order that tried it on the holdout, if one did. */
  holdout: OrderRecord | null
  event: LedgerEvent<'decided'>
}

/** Invariant 1: what landed was measured before, by an order in force, and its report says what was recorded. */
export function findVerdictGaps(judged: RecordedVerdict): string[] {
  const { campaign, spec, order: record, event } = judged
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
  return gaps.length > 0 ? gaps : findHoldoutGaps(spec, experiment, { order, holdout: judged.holdout })
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
