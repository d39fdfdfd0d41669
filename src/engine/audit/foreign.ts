import { assess } from '../../decide/assess.ts'
import type { LedgerEvent } from '../../model/event.ts'
import { passes } from '../../plan/foreign.ts'
import type { Spec } from '../../spec/schema.ts'
import { foreignRefusal } from '../facts/candidate.ts'
import type { IncumbentStep } from './incumbent-step.ts'
import { measuredStep } from './measured-step.ts'
import { pinGaps } from './pin.ts'
import { samePoint } from './same-point.ts'

/** A tip somebody else put there: the commits up to it are covered by the event that adopts it, if that holds. */
export async function foreignGaps(
  step: IncumbentStep,
  adopted: LedgerEvent<'foreign-tip'>,
): Promise<string[]> {
  const { place, spec, from, to } = step
  if (!samePoint(adopted.from, from) || !samePoint(adopted.to, to))
    return [`event ${adopted.seq} adopts ${adopted.to.commit} from ${adopted.from.commit}, not this step`]
  if (spec === null) return ['the spec in force cannot be read']
  const measured = measurementGaps(step, adopted, spec)
  if (measured.length > 0) return measured
  const refusal = await foreignRefusal(place.repository, spec, { from: from.tree, to: to.tree })
  return refusal ? [`its change is not allowed: ${refusal.message}`] : pinGaps(step)
}

function measurementGaps(
  step: IncumbentStep,
  { order: id, seq }: LedgerEvent<'foreign-tip'>,
  spec: Spec,
): string[] {
  if (id === null) return [`event ${seq} adopts it without an order that measured it`]
  const measured = measuredStep(step, { order: id, seq }, 'foreign')
  if ('gaps' in measured) return measured.gaps
  const { name, order, report } = measured
  const baseline = order.stop.rule === 'stability' ? order.stop.baseline : null
  const assessment = assess({ spec, order, report, label: 'foreign', baseline })
  if (passes(assessment)) return []
  return [`judged again, ${name} says ${assessment.outcome}: ${assessment.reason}`]
}
