import { assessCandidate } from '../../decide/assess.ts'
import type { LedgerEvent } from '../../model/event.ts'
import type { Oid } from '../../model/ids.ts'
import type { Spec } from '../../spec/schema.ts'
import type { OrderRecord } from './evidence.ts'
import { findPinGaps } from './pin.ts'
import type { IncumbentStep } from './incumbent-step.ts'

type RevertedEvent = LedgerEvent<'reverted'>

/** A landing taken back directly: the tree without it was measured before, and passed what must hold. */
export async function findRevertGaps(step: IncumbentStep, reverted: RevertedEvent): Promise<string[]> {
  const { place, campaign, spec, evidence, from, to } = step
  const { parents } = await place.repository.commit(to.commit)
  if (parents.length !== 1 || parents[0] !== from.commit)
    return [`its parents are ${parents.join(', ') || 'none'}, not the incumbent ${from.commit} alone`]
  const record = evidence.orders.get(reverted.measured_in)
  const name = `order ${reverted.measured_in.slice(0, 12)}`
  if (!record?.report) return [`${name} was not measured before event ${reverted.seq}`]
  if (record.gaps.length > 0) return record.gaps.map(gap => `${name}: ${gap}`)
  if (record.order.harness !== campaign.harness)
    return [`${name} was measured with a harness no longer in force`]
  if (spec === null) return ['the spec in force cannot be read']
  const failed = explainUnmeasuredTree(record, to.tree, spec)
  return failed === null ? findPinGaps(step) : [`${name} ${failed}`]
}

/** The base of an order in force is an incumbent, which has its own proof; a candidate must have held. */
function explainUnmeasuredTree({ order, report }: OrderRecord, tree: Oid, spec: Spec): string | null {
  if (order.base.tree === tree || report === null) return null
  const candidate = order.candidates.find(entry => entry.tree === tree)
  if (!candidate || report.trees[candidate.label] !== tree) return `did not measure tree ${tree}`
  const baseline = order.stop.rule === 'stability' ? order.stop.baseline : null
  const { outcome, retry, reason } = assessCandidate({
    spec,
    order,
    report,
    label: candidate.label,
    baseline,
  })
  const holds = outcome === 'eligible' || outcome === 'dropped' || outcome === 'inconclusive'
  return holds && !retry ? null : `found tree ${tree} ${outcome}: ${reason}`
}
