import { assessCandidate } from '../../decide/assess.ts'
import type { LedgerEvent } from '../../model/event.ts'
import { isForeignPassing } from '../../plan/foreign.ts'
import type { Spec } from '../../spec/schema.ts'
import { findForeignRefusal } from '../facts/candidate.ts'
import type { IncumbentStep } from './incumbent-step.ts'
import { findStepMeasurement } from './measured-step.ts'
import { findPinGaps } from './pin.ts'
import { isSamePoint } from './same-point.ts'

/** A tip somebody else put there: the commits up to it are covered by the event that adopts it, if that holds. */
export async function findForeignGaps(
  step: IncumbentStep,
  adopted: LedgerEvent<'foreign-tip'>,
): Promise<string[]> {
  const { place, spec, from, to } = step
  if (!isSamePoint(adopted.from, from) || !isSamePoint(adopted.to, to))
    return [`event ${adopted.seq} adopts ${adopted.to.commit} from ${adopted.from.commit}, not this step`]
  if (spec === null) return ['the spec in force cannot be read']
  const measured = findForeignMeasurementGaps(step, adopted, spec)
  if (measured.length > 0) return measured
  const refusal = await findForeignRefusal(place.repository, spec, { from: from.tree, to: to.tree })
  return refusal ? [`its change is not allowed: ${refusal.message}`] : findPinGaps(step)
}

function findForeignMeasurementGaps(
  step: IncumbentStep,
  { order: id, seq }: LedgerEvent<'foreign-tip'>,
  spec: Spec,
): string[] {
  if (id === null) return [`event ${seq} adopts it without an order that measured it`]
  const measured = findStepMeasurement(step, { order: id, seq }, 'foreign')
  if ('gaps' in measured) return measured.gaps
  const { name, order, report } = measured
  const baseline = order.stop.rule === 'stability' ? order.stop.baseline : null
  const assessment = assessCandidate({ spec, order, report, label: 'foreign', baseline })
  if (isForeignPassing(assessment)) return []
  return [`judged again, ${name} says ${assessment.outcome}: ${assessment.reason}`]
}
