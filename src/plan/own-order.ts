import type { Interruption } from '../model/interruption.ts'
import { isReportingPurpose, type Order, type OrderTerms, buildOrderSubject } from '../model/order.ts'
import type { Report } from '../model/report.ts'
import type { EventId } from '../model/ids.ts'
import type { IncomingReports } from './arrivals.ts'
import type { World } from './world.ts'

/** Where an order of the campaign's own stands: calibration, baseline, sync, foreign. */
export type CampaignOrder =
  | { is: 'wanted'; attempt: number; carried?: OrderTerms['carried']; interrupted?: Interruption[] }
  /** `postponed` says why nothing is measured until a later time. */
  | { is: 'under way'; postponed?: string }
  | { is: 'answered'; order: Order; report: Report; event: EventId }
  | { is: 'given up'; reason: string }

export type AnsweredOrder = Extract<CampaignOrder, { is: 'answered' }>
export type UnansweredOrder = Exclude<CampaignOrder, AnsweredOrder>

type OrderSubject = Pick<OrderTerms, 'purpose' | 'base' | 'candidates' | 'part'>

export function findCampaignOrder(world: World, found: IncomingReports, about: OrderSubject): CampaignOrder {
  const subject = buildOrderSubject(about)
  const live = Object.values(world.campaign.orders).find(({ order }) => buildOrderSubject(order) === subject)
  if (!live) return requestCampaignOrder(world, subject, about)
  const arrived = found.reports.get(live.order.id)
  return arrived ? { is: 'answered', order: live.order, ...arrived } : { is: 'under way' }
}

/** Losses in a row after which a run elsewhere is asked for once an hour only, and effects are no more measured. */
const MAX_LOSSES = 5
const LOSS_REST_MS = 3_600_000

/** A loss is no attempt. Here a person starts the run again; elsewhere a harness that ends its machine costs minutes. */
function requestCampaignOrder(world: World, subject: string, { purpose, base }: OrderSubject): CampaignOrder {
  const { campaign, runner, now } = world
  const used = campaign.attempts[subject] ?? 0
  const lost = campaign.interruptions[subject]
  if (lost === undefined || lost.base !== base.tree)
    return planNextAttempt(world, used, 'no report came back')
  if (lost.times >= MAX_LOSSES) {
    if (isReportingPurpose(purpose))
      return { is: 'given up', reason: `measuring was interrupted ${lost.times} times` }
    const next = Date.parse(lost.at) + LOSS_REST_MS
    if (runner.runId === null && Date.parse(now) < next)
      return { is: 'under way', postponed: describePostponement(lost.times, new Date(next).toISOString()) }
  }
  const next = planNextAttempt(world, used, 'no report came back')
  return next.is === 'wanted' ? { ...next, carried: lost.carried, interrupted: [lost] } : next
}

function describePostponement(times: number, next: string): string {
  return `${times} measuring runs in a row left no usable report; the next one starts after ${next}`
}

/** Adds until when a postponed order is not issued. */
export function appendPostponement(waitsFor: string, order: UnansweredOrder): string {
  return order.is === 'under way' && order.postponed !== undefined
    ? `${waitsFor}: ${order.postponed}`
    : waitsFor
}

/** Failures that are nobody's verdict are measured again, as often as an experiment's would be. */
export function planNextAttempt(world: World, used: number, failure: string): UnansweredOrder {
  if (used < world.spec.execution.max_attempts) return { is: 'wanted', attempt: used + 1 }
  return { is: 'given up', reason: `${failure} (${used} attempts)` }
}
