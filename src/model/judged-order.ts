import { isJudgedMetric } from '../spec/judged.ts'
import type { Spec } from '../spec/schema.ts'
import type { Order } from './order.ts'

/** Orders that compare two sides by pairs; gates alone are nothing to judge. */
export function isJudgedOrder({ stop }: Pick<Order, 'stop'>, spec: Spec): boolean {
  return isJudgedMetric(spec) && (stop.rule === 'paired' || stop.rule === 'pairs')
}
