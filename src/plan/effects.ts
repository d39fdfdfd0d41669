import { findJudgingStop } from '../decide/stopping.ts'
import { isReportingPurpose } from '../model/order.ts'
import type { PlanStep } from './action.ts'
import { raiseAlert } from './alerts.ts'
import type { IncomingReports } from './arrivals.ts'
import { readEffectReport } from './effect-reading.ts'
import {
  type EffectSubject,
  listWatchedLandings,
  WATCH_INTERVAL_MS,
  selectProgressSample,
  computeProgressMinutes,
  listUnreportedLandings,
  listUnreportedProgress,
} from './effect-subjects.ts'
import type { OrderRequest } from './orders.ts'
import { isArchivedStop } from './encore.ts'
import { isJudgedMetric } from '../spec/judged.ts'
import { planNextAttempt, findCampaignOrder, type UnansweredOrder } from './own-order.ts'
import { buildPairsRule } from './paired-order.ts'
import type { World } from './world.ts'

/** What is still to be measured for the record: no round waits for it. */
export interface EffectPlan {
  steps: PlanStep[]
  requests: OrderRequest[]
  /** Something is under way or asked for. */
  pending: boolean
}

/** What recorded reports say of effects; a landing shown to be worse is asked back at once. */
export function reportEffects({ campaign, spec }: World): PlanStep[] {
  return Object.values(campaign.orders).flatMap(({ order, report }): PlanStep[] => {
    if (!isReportingPurpose(order.purpose) || report === null) return []
    const { event: cause } = report
    const reading = readEffectReport(campaign, spec, { order, report: report.report, event: cause })
    if (reading.is !== 'measured') return []
    const { experiment, state, reason } = reading.draft
    const measured: PlanStep = { step: 'event', draft: reading.draft }
    if (experiment === null || state !== 'flagged') return [measured]
    const message = `${experiment} is ${reason}`
    const alert = { kind: 'alert', cause, code: 'regression', about: experiment, message } as const
    if (!reading.revert) return [measured, { step: 'event', draft: alert }]
    const back = { kind: 'steered', cause, action: 'revert', experiment, reason } as const
    return [measured, { step: 'event', draft: back }, { step: 'event', draft: alert }]
  })
}

/**
 * Beside the rounds: what landed is measured again, once for the record and then every night, and the campaign against
 * its start. Where each run costs minutes of its own these ride along with a round (`riding`), or wait for the daily look.
 */
export function planEffects(world: World, found: IncomingReports, riding: boolean): EffectPlan {
  const all = [
    ...listUnreportedLandings(world),
    ...selectProgressSample(world),
    ...listWatchedLandings(world),
  ]
  const isDue = ({ since }: EffectSubject) =>
    riding || !isRunElsewhere(world) || Date.parse(world.now) - Date.parse(since) >= WATCH_INTERVAL_MS
  return requestEffects(world, found, all.filter(isDue))
}

function isRunElsewhere({ runner }: World): boolean {
  return runner.runId === null
}

/** Where a limit of time or money ends a campaign, the progression test alone is measured: it covers the landings. */
const SPENDING_LIMITS: ReadonlySet<string> = new Set([
  'max_hours',
  'max_runner_minutes',
  'max_total_cost_usd',
])

/** Before the campaign stops by itself: what is not reported yet, then its progress. */
export function planLastEffects(world: World, found: IncomingReports, code: string): EffectPlan {
  const landings = SPENDING_LIMITS.has(code) ? [] : listUnreportedLandings(world)
  return requestEffects(world, found, [...landings, ...selectAffordableProgress(world)])
}

/** After a person's stop, or where the campaign stopped before it could be measured: the progress is measured still. */
export function planProgressAfterStop(world: World, found: IncomingReports): EffectPlan {
  // No model is asked for a campaign that has stopped.
  const isOver = isArchivedStop(world.campaign) || isJudgedMetric(world.spec)
  return requestEffects(world, found, isOver ? [] : selectAffordableProgress(world))
}

/** No limit of money is passed for it: room for it was set aside (`setAsideMinutes`). */
function selectAffordableProgress(world: World): EffectSubject[] {
  const { spent } = world.campaign
  const { max_runner_minutes: minutes, max_total_cost_usd: usd } = world.spec.stopping
  if (usd !== null && spent.usd >= usd && isJudgedMetric(world.spec)) return []
  if (findJudgingStop(world.spec, spent.usd) !== null) return []
  if (minutes !== null && spent.minutes + computeProgressMinutes(world) > minutes) return []
  return listUnreportedProgress(world)
}

function requestEffects(
  world: World,
  found: IncomingReports,
  subjects: readonly EffectSubject[],
): EffectPlan {
  const plan: EffectPlan = { steps: [], requests: [], pending: isMeasuringEffects(world, found) }
  const givenUp = new Set<string>()
  for (const subject of subjects) {
    // One machine measures one after the other, so that no round waits for several.
    if (plan.pending && !isRunElsewhere(world)) break
    const { what, ...alert } = subject.alert
    const key = `${alert.code} ${alert.about}`
    if (isEffectGivenUp(world, subject) || givenUp.has(key)) continue
    const next = findEffectOrder(world, found, subject)
    if (next.is !== 'given up') plan.pending = true
    if (next.is === 'wanted') plan.requests.push(buildEffectRequest(world, subject, next))
    if (next.is !== 'given up') continue
    givenUp.add(key)
    const message = `${what} could not be measured: ${next.reason}`
    plan.steps.push(...raiseAlert(world, { ...alert, message }))
  }
  return plan
}

function isMeasuringEffects({ campaign }: World, { reports, lost }: IncomingReports): boolean {
  return Object.values(campaign.orders).some(
    ({ order: { id, purpose } }) => isReportingPurpose(purpose) && !reports.has(id) && !lost.has(id),
  )
}

function isEffectGivenUp({ campaign }: World, { alert: { code, about } }: EffectSubject): boolean {
  return campaign.alerts.some(known => known.code === code && known.about === about)
}

function findEffectOrder(world: World, found: IncomingReports, subject: EffectSubject): UnansweredOrder {
  const own = findCampaignOrder(world, found, subject)
  if (own.is !== 'answered') return own
  const reading = readEffectReport(world.campaign, world.spec, own)
  switch (reading.is) {
    case 'measured':
    case 'more':
      return { is: 'under way' }
    case 'failed':
      return reading.retry
        ? planNextAttempt(world, own.order.attempt, reading.reason)
        : { is: 'given up', reason: reading.reason }
    default:
      return reading satisfies never
  }
}

function buildEffectRequest(
  world: World,
  subject: EffectSubject,
  { attempt, interrupted }: Pick<OrderRequest, 'attempt' | 'interrupted'>,
): OrderRequest {
  const { purpose, base, candidates, carried, part, cause } = subject
  const round = world.campaign.round?.number ?? 0
  const pairs = { stop: buildPairsRule(world), carried: { incumbent: carried } }
  const which = part === undefined ? {} : { part }
  return { purpose, ...which, round, attempt, interrupted, cause, candidates, base, ...pairs }
}
