import type { Campaign } from '../model/campaign.ts'
import type { Order } from '../model/order.ts'
import type { Report } from '../model/report.ts'
import { getNumber } from '../model/report.ts'
import { aggregateSnapshot } from '../model/snapshot.ts'

type TimedCampaign = Pick<Campaign, 'calibration' | 'orders' | 'origin'>

/** How long an order is expected to take on this machine, from what was measured before; null: nobody can know. */
export function estimateOrderSeconds(campaign: TimedCampaign, { stop, candidates }: Order): number | null {
  const sides = 1 + candidates.length
  const noise = campaign.calibration?.noise ?? null
  if (noise !== null && 'pairs' in stop) {
    return noise.overhead_seconds + sides * (stop.pairs + 1) * noise.execution_seconds
  }
  const alike = Object.values(campaign.orders).flatMap(({ order, report }) =>
    report === null || order.stop.rule !== stop.rule ? [] : [computeReportSeconds(report.report)],
  )
  if (alike.length > 0) return computeMean(alike)
  const each = getNumber(aggregateSnapshot(campaign.origin?.snapshot ?? null), 'wall_seconds')
  return each === null ? null : sides * each
}

function computeReportSeconds({ started_at, finished_at }: Report): number {
  return Math.max(0, Date.parse(finished_at) - Date.parse(started_at)) / 1_000
}

function computeMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
