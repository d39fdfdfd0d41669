import { type Order, type OrderTerms, ownSubject } from '../model/order.ts'
import type { Report } from '../model/report.ts'
import type { EventId } from '../model/ids.ts'
import type { Arrivals } from './arrivals.ts'
import type { World } from './world.ts'

/** Where an order of the campaign's own stands: calibration, baseline, sync, foreign. */
export type OwnOrder =
  | { is: 'wanted'; attempt: number; carried?: OrderTerms['carried'] }
  | { is: 'under way' }
  | { is: 'answered'; order: Order; report: Report; event: EventId }
  | { is: 'given up'; reason: string }

export type Answered = Extract<OwnOrder, { is: 'answered' }>
export type Unanswered = Exclude<OwnOrder, Answered>

type Subject = Pick<OrderTerms, 'purpose' | 'base' | 'candidates'>

export function ownOrder(world: World, found: Arrivals, about: Subject): OwnOrder {
  const subject = ownSubject(about)
  const live = Object.values(world.campaign.orders).find(({ order }) => ownSubject(order) === subject)
  if (!live) return nextAttempt(world, world.campaign.attempts[subject] ?? 0, 'no report came back')
  const arrived = found.reports.get(live.order.id)
  return arrived ? { is: 'answered', order: live.order, ...arrived } : { is: 'under way' }
}

/** Failures that are nobody's verdict are measured again, as often as an experiment's would be. */
export function nextAttempt(world: World, used: number, failure: string): Unanswered {
  if (used < world.spec.execution.max_attempts) return { is: 'wanted', attempt: used + 1 }
  return { is: 'given up', reason: `${failure} (${used} attempts)` }
}
