import { judgeHoldout } from '../../decide/holdout.ts'
import type { Experiment } from '../../model/experiment.ts'
import type { Order } from '../../model/order.ts'
import { isHoldoutRequired } from '../../plan/holdout.ts'
import type { Spec } from '../../spec/schema.ts'
import type { OrderRecord } from './evidence.ts'
import { isSamePoint } from './same-point.ts'

export interface TriedHoldout {
  /** The order that its gain was shown by. */
  order: Order
  holdout: OrderRecord | null
}

/** Where the spec has a holdout nothing lands without it: the same two trees, tried and passed. */
export function findHoldoutGaps(
  spec: Spec,
  experiment: Experiment,
  { order, holdout }: TriedHoldout,
): string[] {
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
