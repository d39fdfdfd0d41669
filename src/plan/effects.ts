import { computeReportedEffect } from '../decide/evidence/interval.ts'
import { checkRegression } from '../decide/evidence/rules.ts'
import { findFailure } from '../decide/failures.ts'
import { getScoreTerms, listObjectives } from '../decide/metrics.ts'
import { formatEffect } from '../decide/paired/effect-text.ts'
import { collectMetricPairs, computeDifferences, hasLogarithms } from '../decide/paired/evaluate.ts'
import { hasUntestedGain } from '../decide/progress.ts'
import { findMoneyStop } from '../decide/stop-rules.ts'
import { formatCount } from '../decide/wording.ts'
import type { Campaign, Landing } from '../model/campaign.ts'
import type { EventDraft } from '../model/event.ts'
import { isOwnGain } from '../model/fold/counters.ts'
import { getProgressJobs } from '../model/fold/orders.ts'
import type { EventId, Point } from '../model/ids.ts'
import {
  EFFECT_JOBS,
  isReportingPurpose,
  type Order,
  type OrderCandidate,
  type ReportingPurpose,
  type StopRule,
  toPairRequest,
} from '../model/order.ts'
import { buildPairJob, type PairJob, toMeasuredRun } from '../model/pairs.ts'
import type { Report } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { isJudgedMetric, resolveEvidence } from '../spec/spec-facts.ts'
import { type PlanStep, raiseAlert } from './action.ts'
import { isArchivedStop } from './extra-round.ts'
import {
  type ComparingFacts,
  findCampaignOrder,
  type OrderRequest,
  planNextAttempt,
  selectComparison,
  type UnansweredOrder,
} from './orders.ts'
import { buildPairsRule } from './paired-order.ts'
import type { IncomingReports } from './reports.ts'
import type { World } from './world.ts'

/** Measurements for the record: no round waits for them. */
export interface EffectPlan {
  steps: PlanStep[]
  requests: OrderRequest[]
  pending: boolean
}

/** A tree to measure again, by pairs that decide nothing about it. */
interface EffectSubject {
  purpose: ReportingPurpose
  base: Point
  candidates: OrderCandidate[]
  earlier_jobs: PairJob[]
  /** For the progression test: the index of its job. */
  part?: number
  /** ISO time from which on it could be measured. */
  since: string
  /** The event that its orders answer. */
  cause: string
  /** Raised once for each `about` if it cannot be measured. */
  alert: { code: string; about: string; what: string }
}

const WATCH_INTERVAL_MS = 20 * 3_600_000

/** The plan, replay and audit read a report on an effect with the same function (invariant 3). */
type EffectReading =
  | { is: 'measured'; draft: EventDraft<'effect-measured'>; revert: boolean }
  /** One of several jobs, which alone reports nothing. */
  | { is: 'needs-more-pairs' }
  | { is: 'failed'; reason: string; retry: boolean }

interface EffectReport {
  order: Order
  report: Report
  event: EventId
}

type EffectState = Pick<Campaign, 'landings' | 'progressing' | 'harness'>

type EffectNumbers = Pick<EventDraft<'effect-measured'>, 'metric' | 'scale' | 'effect' | 'interval' | 'pairs'>

interface ReadEffect extends EffectNumbers {
  text: string
  differences: ReturnType<typeof computeDifferences>
}

// Recording effects

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

// Planning the measurements of effects

/** Where each run costs minutes, these orders join a round (`riding`) or wait for the daily interval. */
export function planEffects(world: World, incoming: IncomingReports, riding: boolean): EffectPlan {
  const all = [
    ...listUnreportedLandings(world),
    ...selectProgressSample(world),
    ...listWatchedLandings(world),
  ]
  const isDue = ({ since }: EffectSubject) =>
    riding || !isRunElsewhere(world) || Date.parse(world.now) - Date.parse(since) >= WATCH_INTERVAL_MS
  return requestEffects(world, incoming, all.filter(isDue))
}

/** Landings proven by pairs and not measured since (docs/deciding.md, Total improvement of a campaign). */
function listUnreportedLandings(world: World): EffectSubject[] {
  const { campaign } = world
  return listCurrentLandings(world).flatMap((landing): EffectSubject[] => {
    if (landing.effect !== null) return []
    const { experiment: about, base, commit, tree, watch } = landing
    const alert = { code: 'effect-not-measured', about, what: `the effect of ${about}` }
    const candidates = [toIncumbentCandidate({ commit, tree })]
    const cause = getLandingCause(campaign, landing)
    return [{ purpose: 'effect', base, candidates, earlier_jobs: [], since: watch.at, cause, alert }]
  })
}

/** Landings that pairs proved, that are not reverted, and that belong to the pin in force. */
function listCurrentLandings(world: World): Landing[] {
  const { campaign } = world
  if (selectComparison(world)?.by !== 'pairs') return []
  return campaign.landings.filter(
    ({ experiment, reverted, pin }) =>
      reverted === null &&
      pin === campaign.pin.commit &&
      campaign.experiments[experiment]?.alpha_share != null,
  )
}

function toIncumbentCandidate({ commit, tree }: Point): OrderCandidate {
  return { label: 'incumbent', head: commit, tree }
}

function getLandingCause({ experiments, started }: Campaign, { experiment }: Landing): string {
  return experiments[experiment]?.opened ?? started
}

/** One job after each round in which a change landed. A single landing's own effect is that total. */
function selectProgressSample(world: ComparingFacts): EffectSubject[] {
  const { landings, reference, incumbent: to } = world.campaign
  const left = listUnreportedProgress(world)
  const gains = landings.filter(isOwnGain)
  const isOne =
    gains.length === 1 && gains[0]?.base.commit === reference.commit && gains[0].commit === to.commit
  return left.length < EFFECT_JOBS || isOne ? [] : left.slice(0, 1)
}

/** Compares the incumbent with the default branch it contains, if a kept change lies between the two. */
function listUnreportedProgress(world: ComparingFacts): EffectSubject[] {
  const { reference: base, incumbent: to, started: cause } = world.campaign
  if (selectComparison(world)?.by !== 'pairs' || !hasUntestedGain(world.campaign)) return []
  const alert = { code: 'progression-not-measured', about: to.commit, what: 'the progress of the campaign' }
  const since = world.campaign.landings.at(-1)?.watch.at ?? ''
  const jobs = getProgressJobs(world.campaign, { from: base, to })
  const done = jobs.length === 0 ? [] : (world.campaign.progressing?.parts ?? [])
  const left = Array.from({ length: EFFECT_JOBS }, (_, part) => part).filter(part => !done.includes(part))
  return left.map(part => {
    const candidates = [toIncumbentCandidate(to)]
    return { purpose: 'progression', base, candidates, earlier_jobs: [], since, cause, alert, part }
  })
}

/** Landings to measure again this night, except those about to be reverted. */
function listWatchedLandings(world: World): EffectSubject[] {
  const { campaign, now } = world
  return listCurrentLandings(world).flatMap((landing): EffectSubject[] => {
    const { experiment: about, base, watch } = landing
    const leaving = campaign.steered.some(one => one.action === 'revert' && one.experiment === about)
    if (watch.state !== 'open' || leaving || base.tree === campaign.incumbent.tree) return []
    if (!(Date.parse(now) - Date.parse(watch.at) >= WATCH_INTERVAL_MS)) return []
    const alert = { code: 'watch-ended', about, what: `whether ${about} still holds` }
    const candidates = [toIncumbentCandidate(campaign.incumbent)]
    const cause = getLandingCause(campaign, landing)
    const { at: since, jobs: earlier_jobs } = watch
    return [{ purpose: 'regression', base, candidates, earlier_jobs, since, cause, alert }]
  })
}

function isRunElsewhere({ runner }: World): boolean {
  return runner.runId === null
}

function requestEffects(
  world: World,
  incoming: IncomingReports,
  subjects: readonly EffectSubject[],
): EffectPlan {
  const { orders, alerts } = world.campaign
  const pending = Object.values(orders).some(
    ({ order: { id, purpose } }) =>
      isReportingPurpose(purpose) && !incoming.reports.has(id) && !incoming.lost.has(id),
  )
  const plan: EffectPlan = { steps: [], requests: [], pending }
  const givenUp = new Set(alerts.map(({ code, about }) => `${code} ${about}`))
  for (const subject of subjects) {
    // A single machine measures one order after the other, and a round must not wait for several.
    if (plan.pending && !isRunElsewhere(world)) break
    const { what, ...alert } = subject.alert
    const key = `${alert.code} ${alert.about}`
    if (givenUp.has(key)) continue
    const next = findEffectOrder(world, incoming, subject)
    if (next.is !== 'given up') plan.pending = true
    if (next.is === 'wanted') plan.requests.push(buildEffectRequest(world, subject, next))
    if (next.is !== 'given up') continue
    givenUp.add(key)
    const message = `winnow could not measure ${what}: ${next.reason}`
    plan.steps.push(...raiseAlert(world, { ...alert, message }))
  }
  return plan
}

function findEffectOrder(world: World, incoming: IncomingReports, subject: EffectSubject): UnansweredOrder {
  const order = findCampaignOrder(world, incoming, subject)
  if (order.is !== 'answered') return order
  const reading = readEffectReport(world.campaign, world.spec, order)
  switch (reading.is) {
    case 'measured':
    case 'needs-more-pairs':
      return { is: 'under way' }
    case 'failed':
      return reading.retry
        ? planNextAttempt(world, order.order.attempt, reading.reason)
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
  const { purpose, base, candidates, earlier_jobs, part, cause } = subject
  const round = world.campaign.round?.number ?? 0
  const pairs = { stop: buildPairsRule(world), earlier_jobs: { incumbent: earlier_jobs } }
  return {
    purpose,
    ...(part === undefined ? {} : { part }),
    round,
    attempt,
    interrupted,
    cause,
    candidates,
    base,
    ...pairs,
  }
}

/** At these limits only the progression test is measured: it covers the landings. */
const SPENDING_LIMITS: ReadonlySet<string> = new Set([
  'max_hours',
  'max_runner_minutes',
  'max_total_cost_usd',
  'max_judge_cost_usd',
])

/** Measures unreported landings, then the total progress, before the campaign stops by itself. */
export function planLastEffects(world: World, incoming: IncomingReports, code: string): EffectPlan {
  const landings = SPENDING_LIMITS.has(code) ? [] : listUnreportedLandings(world)
  return requestEffects(world, incoming, [...landings, ...selectAffordableProgress(world)])
}

/** The progression test exceeds no limit: `computeReservedMinutes` sets its minutes aside. */
function selectAffordableProgress(world: World): EffectSubject[] {
  const { spent } = world.campaign
  const { max_runner_minutes: minutes } = world.spec.stopping
  if (findMoneyStop(world.spec, spent) !== null) return []
  if (minutes !== null && spent.minutes + computeProgressMinutes(world) > minutes) return []
  return listUnreportedProgress(world)
}

/** Runner minutes that the progression test still takes; 0 if nothing is left to test. */
function computeProgressMinutes(world: ComparingFacts): number {
  const left = listUnreportedProgress(world).length
  const { calibration, host } = world.campaign
  const noise = calibration?.noise ?? null
  if (left === 0 || noise === null) return 0
  const job = (noise.overhead_seconds + 2 * (buildPairsRule(world).pairs + 1) * noise.execution_seconds) / 60
  // GitHub bills whole minutes for each job; 2 more are for the tick before and the settle after them.
  return host === 'github' ? left * Math.max(1, Math.ceil(job)) + 2 : left * job
}

/** Measures the progress after a person's stop, or where the campaign stopped before it could. */
export function planProgressAfterStop(world: World, incoming: IncomingReports): EffectPlan {
  // winnow asks no model for a stopped campaign.
  const isOver = isArchivedStop(world.campaign) || isJudgedMetric(world.spec)
  return requestEffects(world, incoming, isOver ? [] : selectAffordableProgress(world))
}

/** Runner minutes set aside for the progression test; 0 if they exceed half of the limit. */
export function computeReservedMinutes(world: ComparingFacts): number {
  const limit = world.spec.stopping.max_runner_minutes
  const minutes = computeProgressMinutes(world)
  return limit === null || minutes > limit / 2 ? 0 : minutes
}

// Reading reports on effects

export function readEffectReport(campaign: EffectState, spec: Spec, answer: EffectReport): EffectReading {
  const { order, report } = answer
  if (order.stop.rule !== 'pairs')
    return { is: 'failed', reason: `the rule ${order.stop.rule} shows no effect`, retry: false }
  const failure = findFailure({ spec, report, label: 'incumbent', pairs: true })
  if (failure !== null) return { is: 'failed', reason: failure.reason, retry: failure.retry }
  const job = buildPairJob(toPairRequest(order), toMeasuredRun(report), 'incumbent')
  if (!job.complete) {
    const reason = `the report holds ${job.pairs.length} of ${formatCount(order.stop.pairs, 'pair')}`
    return { is: 'failed', reason, retry: true }
  }
  const jobs =
    order.purpose === 'progression'
      ? selectEffectJobs(campaign, order)
      : [...(order.earlier_jobs['incumbent'] ?? []), job]
  if (jobs === null) return { is: 'needs-more-pairs' }
  const measured = measureEffect(spec, order.stop, jobs)
  return typeof measured === 'string'
    ? { is: 'failed', reason: measured, retry: false }
    : draftEffect(campaign, spec, answer, { measured, jobs })
}

/** Reports the total after its first job and after all: no report is selected by its result. */
function selectEffectJobs(campaign: EffectState, { id, base, candidates }: Order): readonly PairJob[] | null {
  const [candidate] = candidates
  if (candidate === undefined) return null
  const jobs = getProgressJobs(campaign, { from: base, to: { commit: candidate.head, tree: candidate.tree } })
  const isReported = jobs.length === 1 || jobs.length === EFFECT_JOBS
  return isReported && jobs.at(-1)?.order === id ? jobs : null
}

/** Hodges-Lehmann estimate and interval of all pairs, or the reason why there are none. */
function measureEffect(
  spec: Spec,
  { scale }: Extract<StopRule, { rule: 'pairs' }>,
  jobs: readonly PairJob[],
): ReadEffect | string {
  const [primary] = listObjectives(spec.metric)
  const { name, direction } = primary
  const found = collectMetricPairs(jobs, name)
  if (scale === 'log' && !hasLogarithms(found))
    return `scale violated: ${name} was 0 or less, and this campaign compares it on a log scale since its calibration`
  const differences = computeDifferences(found, { direction, scale })
  const { effect, interval, pairs } = computeReportedEffect(differences, getScoreTerms(spec, primary))
  if (effect === null) return `${name} is missing on at least one side`
  const text = `${formatEffect(effect, interval, { name, direction, scale })}, ${formatCount(pairs, 'pair')} in ${formatCount(jobs.length, 'job')}`
  return { metric: name, scale, effect, interval, pairs, text, differences }
}

function draftEffect(
  campaign: Pick<Campaign, 'landings'>,
  spec: Spec,
  { order, event }: EffectReport,
  { measured, jobs }: { measured: ReadEffect; jobs: readonly PairJob[] },
): EffectReading {
  const { metric, scale, effect, interval, pairs, text } = measured
  const [candidate] = order.candidates
  if (candidate === undefined) throw new TypeError('an effect is measured of something')
  const landing = order.purpose === 'progression' ? null : findMeasuredLanding(campaign, order)
  if (landing === null && order.purpose !== 'progression')
    return { is: 'failed', reason: 'the measured change was reverted', retry: false }
  const to = { commit: candidate.head, tree: candidate.tree }
  const where = { order: order.id, from: order.base, to, experiment: landing?.experiment ?? null }
  const numbers = { metric, scale, effect, interval, pairs }
  const common = { kind: 'effect-measured', cause: event, ...where, ...numbers } as const
  if (order.purpose === 'regression') {
    const { state, revert, why } = evaluateWatch(spec, measured, jobs)
    const draft = { ...common, what: 'watch', state, reason: `${why}: ${text}` } as const
    return { is: 'measured', draft, revert }
  }
  const what = order.purpose === 'progression' ? 'progression' : 'landing'
  return { is: 'measured', draft: { ...common, what, state: null, reason: text }, revert: false }
}

/** One e-process over all nights. */
function evaluateWatch(
  spec: Spec,
  { differences, scale }: ReadEffect,
  jobs: readonly PairJob[],
): { state: 'open' | 'clear' | 'flagged'; revert: boolean; why: string } {
  const known = { singleMachine: false, scale, deterministic: false }
  const found = checkRegression(differences, resolveEvidence(spec, known).min_effect)
  switch (found) {
    case 'revert':
      return { state: 'flagged', revert: true, why: 'proven worse than the tree before it' }
    case 'clear':
      return { state: 'clear', revert: false, why: 'it holds' }
    case 'open':
      return jobs.length < EFFECT_JOBS
        ? { state: 'open', revert: false, why: 'not decided yet' }
        : { state: 'flagged', revert: false, why: 'not shown to hold' }
    default:
      return found satisfies never
  }
}

/** Null once the landing was reverted. */
export function findMeasuredLanding(
  { landings }: Pick<Campaign, 'landings'>,
  { purpose, base, candidates }: Pick<Order, 'purpose' | 'base' | 'candidates'>,
): Landing | null {
  const found = landings.find(
    landing =>
      landing.reverted === null &&
      landing.base.commit === base.commit &&
      (purpose === 'regression' || landing.commit === candidates[0]?.head),
  )
  return found ?? null
}
