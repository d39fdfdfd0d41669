import type { OrderId } from '../../model/ids.ts'
import type { Order } from '../../model/order.ts'
import type { Report } from '../../model/report.ts'
import type { IncumbentStep } from './incumbent-step.ts'

/** An order that measured exactly this step, before the event that rests on it; or what that lacks. */
export type StepMeasurement = { name: string; order: Order; report: Report } | { gaps: string[] }

export function findStepMeasurement(
  { evidence, from, to }: Pick<IncumbentStep, 'evidence' | 'from' | 'to'>,
  resting: { order: OrderId; seq: number },
  label: 'foreign' | 'sync',
): StepMeasurement {
  const record = evidence.orders.get(resting.order)
  const name = `order ${resting.order.slice(0, 12)}`
  if (!record?.report) return { gaps: [`${name} was not measured before event ${resting.seq}`] }
  if (record.gaps.length > 0) return { gaps: record.gaps.map(gap => `${name}: ${gap}`) }
  const { order, report } = record
  const [candidate] = order.candidates
  const same = candidate?.label === label && candidate.tree === to.tree && order.base.tree === from.tree
  if (!same || report.trees[label] !== to.tree)
    return { gaps: [`${name} measured another tree than ${to.tree}`] }
  return { name, order, report }
}
