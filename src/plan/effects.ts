import { judgingStop } from '../decide/stopping.ts'
import { isReporting } from '../model/order.ts'
import type { Step } from './action.ts'
import { alertOnce } from './alerts.ts'
import type { Arrivals } from './arrivals.ts'
import { readEffect } from './effect-reading.ts'
import {
  type EffectSubject,
  landingsToWatch,
  LOOK_AGAIN_MS,
  progressBeside,
  progressMinutes,
  unreportedLandings,
  unreportedProgress,
} from './effect-subjects.ts'
import type { Request } from './orders.ts'
import { isPutAside } from './encore.ts'
import { isJudged } from '../spec/judged.ts'
import { nextAttempt, ownOrder, type Unanswered } from './own-order.ts'
import { pairsStop } from './paired-order.ts'
import type { World } from './world.ts'

/** What is still to be measured for the record: no round waits for it. */
export interface EffectPlan {
  steps: Step[]
  requests: Request[]
  /** Something is under way or asked for. */
  pending: boolean
}

/** What recorded reports say of effects; a landing shown to be worse is asked back at once. */
export function effectSteps({ campaign, spec }: World): Step[] {
  return Object.values(campaign.orders).flatMap(({ order, report }): Step[] => {
    if (!isReporting(order.purpose) || report === null) return []
    const { event: cause } = report
    const reading = readEffect(campaign, spec, { order, report: report.report, event: cause })
    if (reading.is !== 'measured') return []
    const { experiment, state, reason } = reading.draft
    const measured: Step = { step: 'event', draft: reading.draft }
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
export function effectsBeside(world: World, found: Arrivals, riding: boolean): EffectPlan {
  const all = [...unreportedLandings(world), ...progressBeside(world), ...landingsToWatch(world)]
  const isDue = ({ since }: EffectSubject) =>
    riding || !isElsewhere(world) || Date.parse(world.now) - Date.parse(since) >= LOOK_AGAIN_MS
  return asked(world, found, all.filter(isDue))
}

function isElsewhere({ runner }: World): boolean {
  return runner.runId === null
}

/** Where a limit of time or money ends a campaign, the progression test alone is measured: it covers the landings. */
const LIMITS: ReadonlySet<string> = new Set(['max_hours', 'max_runner_minutes', 'max_total_cost_usd'])

/** Before the campaign stops by itself: what is not reported yet, then its progress. */
export function lastEffects(world: World, found: Arrivals, code: string): EffectPlan {
  const landings = LIMITS.has(code) ? [] : unreportedLandings(world)
  return asked(world, found, [...landings, ...affordableProgress(world)])
}

/** After a person's stop, or where the campaign stopped before it could be measured: the progress is measured still. */
export function progressAfterStop(world: World, found: Arrivals): EffectPlan {
  // No model is asked for a campaign that has stopped.
  const isOver = isPutAside(world.campaign) || isJudged(world.spec)
  return asked(world, found, isOver ? [] : affordableProgress(world))
}

/** No limit of money is passed for it: room for it was set aside (`setAsideMinutes`). */
function affordableProgress(world: World): EffectSubject[] {
  const { spent } = world.campaign
  const { max_runner_minutes: minutes, max_total_cost_usd: usd } = world.spec.stopping
  if (usd !== null && spent.usd >= usd && isJudged(world.spec)) return []
  if (judgingStop(world.spec, spent.usd) !== null) return []
  if (minutes !== null && spent.minutes + progressMinutes(world) > minutes) return []
  return unreportedProgress(world)
}

function asked(world: World, found: Arrivals, subjects: readonly EffectSubject[]): EffectPlan {
  const plan: EffectPlan = { steps: [], requests: [], pending: isMeasuring(world, found) }
  const givenUp = new Set<string>()
  for (const subject of subjects) {
    // One machine measures one after the other, so that no round waits for several.
    if (plan.pending && !isElsewhere(world)) break
    const { what, ...alert } = subject.alert
    const key = `${alert.code} ${alert.about}`
    if (isGivenUp(world, subject) || givenUp.has(key)) continue
    const next = standingOf(world, found, subject)
    if (next.is !== 'given up') plan.pending = true
    if (next.is === 'wanted') plan.requests.push(request(world, subject, next))
    if (next.is !== 'given up') continue
    givenUp.add(key)
    const message = `${what} could not be measured: ${next.reason}`
    plan.steps.push(...alertOnce(world, { ...alert, message }))
  }
  return plan
}

function isMeasuring({ campaign }: World, { reports, lost }: Arrivals): boolean {
  return Object.values(campaign.orders).some(
    ({ order: { id, purpose } }) => isReporting(purpose) && !reports.has(id) && !lost.has(id),
  )
}

function isGivenUp({ campaign }: World, { alert: { code, about } }: EffectSubject): boolean {
  return campaign.alerts.some(known => known.code === code && known.about === about)
}

function standingOf(world: World, found: Arrivals, subject: EffectSubject): Unanswered {
  const own = ownOrder(world, found, subject)
  if (own.is !== 'answered') return own
  const reading = readEffect(world.campaign, world.spec, own)
  switch (reading.is) {
    case 'measured':
    case 'more':
      return { is: 'under way' }
    case 'failed':
      return reading.retry
        ? nextAttempt(world, own.order.attempt, reading.reason)
        : { is: 'given up', reason: reading.reason }
    default:
      return reading satisfies never
  }
}

function request(
  world: World,
  subject: EffectSubject,
  { attempt, interrupted }: Pick<Request, 'attempt' | 'interrupted'>,
): Request {
  const { purpose, base, candidates, carried, part, cause } = subject
  const round = world.campaign.round?.number ?? 0
  const pairs = { stop: pairsStop(world), carried: { incumbent: carried } }
  const which = part === undefined ? {} : { part }
  return { purpose, ...which, round, attempt, interrupted, cause, candidates, base, ...pairs }
}
