import { assess } from '../../decide/assess.ts'
import type { LedgerEvent } from '../../model/event.ts'
import { passes } from '../../plan/foreign.ts'
import { foreignRefusal } from '../facts/candidate.ts'
import { samePoint } from './same-point.ts'
import { pinGaps } from './pin.ts'
import type { IncumbentStep } from './incumbent-step.ts'

/** A tip somebody else put there: the commits up to it are covered by the event that adopts it, if that holds. */
export async function foreignGaps(
  step: IncumbentStep,
  adopted: LedgerEvent<'foreign-tip'>,
): Promise<string[]> {
  const { place, spec, from, to } = step
  if (!samePoint(adopted.from, from) || !samePoint(adopted.to, to))
    return [`event ${adopted.seq} adopts ${adopted.to.commit} from ${adopted.from.commit}, not this step`]
  if (spec === null) return ['the spec in force cannot be read']
  const measured = measurementGaps(step, adopted)
  if (measured.length > 0) return measured
  const refusal = await foreignRefusal(place.repository, spec, { from: from.tree, to: to.tree })
  return refusal ? [`its change is not allowed: ${refusal.message}`] : pinGaps(step)
}

function measurementGaps(
  { spec, evidence, from, to }: IncumbentStep,
  adopted: LedgerEvent<'foreign-tip'>,
): string[] {
  if (adopted.order === null || spec === null)
    return [`event ${adopted.seq} adopts it without an order that measured it`]
  const record = evidence.orders.get(adopted.order)
  const name = `order ${adopted.order.slice(0, 12)}`
  if (!record?.report) return [`${name} was not measured before event ${adopted.seq}`]
  if (record.gaps.length > 0) return record.gaps.map(gap => `${name}: ${gap}`)
  const { order, report } = record
  const [candidate] = order.candidates
  const same = candidate?.label === 'foreign' && candidate.tree === to.tree && order.base.tree === from.tree
  if (!same || report.trees['foreign'] !== to.tree) return [`${name} measured another tree than ${to.tree}`]
  const baseline = order.stop.rule === 'stability' ? order.stop.baseline : null
  const assessment = assess({ spec, order, report, label: 'foreign', baseline })
  if (passes(assessment)) return []
  return [`judged again, ${name} says ${assessment.outcome}: ${assessment.reason}`]
}
