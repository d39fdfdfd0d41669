import type { Order } from '../../src/model/order.ts'
import type { Report } from '../../src/model/report.ts'
import { type CampaignBuilder, SPEC, unprepared } from './a-campaign.ts'
import { type Behaviour, reportOf } from './a-report.ts'
import { settle } from './a-world.ts'

/** Fewer bytes by this share, give or take half a percent: no two samples of a side are the same. */
export function fewer(share: number, salt = 0): Behaviour {
  return nth => ({ bytes: 1000 * (1 - share) * (1 + wiggle(nth, salt)) })
}

/** The same every time it is asked, and of neither sign more often than of the other. */
function wiggle(nth: number, salt: number): number {
  return ((((nth + 1) * 37 + salt * 53) % 101) - 50) / 10_000
}

/** What both sides of a calibration print, and the base of every order. */
export const BASE = fewer(0, 7)

/** So large that it is kept without a check for slow runs, and the luck of a job cannot explain it. */
export const GAIN = fewer(0.5, 1)
export const NOTHING = fewer(0, 2)
export const LOSS = fewer(-0.06, 3)
/** Undecided however long it is measured. */
export const SWAYING: Behaviour = nth => ({
  bytes: 1000 * ([0.955, 1.03, 0.96, 1.015, 0.975, 0.95, 1.02, 0.985][nth % 8] ?? 1),
})

type Sides = Record<string, Behaviour>

/** Reports of all orders under way: what each side does, by label; the base, and who is not named, stay the same. */
export function answered(built: CampaignBuilder, sides: Sides = {}, rest: Partial<Report> = {}): Order[] {
  const open = Object.values(built.campaign.orders).filter(({ report }) => report === null)
  return open.map(({ order }) => {
    const behaviourOf = (side: string) => sides[side] ?? (side === 'base-copy' ? NOTHING : BASE)
    const report = reportOf({ order, spec: built.spec, behaviourOf }, rest)
    built.add({ kind: 'measured', cause: order.id, order: order.id, run_id: 'run-1', report })
    return order
  })
}

/** A campaign that has found out by itself how noisy its metric is. */
export function noisy(yaml = SPEC): CampaignBuilder {
  const built = unprepared(yaml)
  for (let orders = 0; orders < 3; orders++) {
    settle(built)
    answered(built)
  }
  settle(built)
  if (!built.campaign.calibration?.noise) throw new Error('it is not calibrated')
  return built.guarded()
}

/** One job after another, each side the same in all of them, until nothing is measured any more. */
export function measuredOut(built: CampaignBuilder, sides: Sides): Order[] {
  const orders: Order[] = []
  for (let jobs = 0; jobs < 60; jobs++) {
    settle(built)
    const asked = answered(built, sides)
    if (asked.length === 0) return orders
    orders.push(...asked)
  }
  throw new Error('it is measured for ever')
}

export { settle }
