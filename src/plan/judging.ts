import type { LiveOrder, OrderScores, PendingJudging } from '../model/campaign.ts'
import { hashSha256, toCanonicalJson } from '../model/canonical-json.ts'
import { isRetryableEnd } from '../model/event-schemas.ts'
import type { EventDraft } from '../model/event.ts'
import { findPendingJudging } from '../model/fold/proposers.ts'
import type { Spec } from '../spec/schema.ts'
import { type PlanStep, raiseAlert } from './action.ts'
import { computeJudgingSeconds } from './orders.ts'
import type { World } from './world.ts'

/** Below GitHub's limit for a job (360 minutes). */
const MAX_JUDGE_JOB_MINUTES = 350
/** Covers the wait for a machine and the checkout before the job, and reading its answer after it. */
const JUDGE_JOB_OVERHEAD_MINUTES = 30

/**
 * Upper limit for a job that has all waiting items scored. The next job requests scores for those left over.
 */
export function computeJudgingMinutes(spec: Pick<Spec, 'metric'>): number {
  return Math.min(
    MAX_JUDGE_JOB_MINUTES,
    Math.ceil(computeJudgingSeconds(spec) / 60) + JUDGE_JOB_OVERHEAD_MINUTES,
  )
}

/**
 * Invariant 7: the orders that a job has scored and the most it may cost are events before winnow asks any
 * model. Two concurrent runs therefore pay once, and a job that vanishes has cost what was set aside for it.
 */
export function requestJudgingJob(world: World): PlanStep[] {
  if (world.judges?.hasJudgeJob !== true) return []
  const { campaign, spec, now } = world
  const until = new Date(
    Date.parse(now) + (computeJudgingMinutes(spec) + JUDGE_JOB_OVERHEAD_MINUTES) * 60_000,
  ).toISOString()
  let left = computeLeftUsd(world)
  const steps: PlanStep[] = []
  for (const { order, scores } of listPrintedOrders(world)) {
    if (findPendingJudging(campaign, order.id) !== null || computeRetryTime(scores) > Date.parse(now))
      continue
    const may_cost_usd = left === null ? null : reserveCost(left, scores)
    if (may_cost_usd !== null && !(may_cost_usd > 0)) continue
    if (left !== null) left -= may_cost_usd ?? 0
    const cause = `judging ${order.id} at ${campaign.seq}`
    const key = `judging:${hashSha256(toCanonicalJson([campaign.started, cause])).slice(0, 16)}`
    steps.push({
      step: 'event',
      draft: { kind: 'judging-asked', cause, key, order: order.id, until, may_cost_usd },
    })
  }
  return steps
}

export function listPrintedOrders({ campaign, runs }: Pick<World, 'campaign' | 'runs'>): LiveOrder[] {
  return Object.values(campaign.orders).filter(
    ({ order, report }) => report === null && runs.get(order.id)?.state === 'printed',
  )
}

/** The part of the cost cap that is neither spent nor set aside; null without a cap. */
function computeLeftUsd({ campaign, spec }: World): number | null {
  const cap = spec.metric.judge?.max_total_cost_usd ?? null
  if (cap === null) return null
  const reserved = Object.values(campaign.judging).reduce((sum, one) => sum + (one.may_cost_usd ?? 0), 0)
  return cap - campaign.spent.usd - reserved
}

/**
 * A first request gets only a part of the money left, so that one lost job does not use it up. An order that
 * needs more than that gets all of it.
 */
const FIRST_REQUEST_DIVISOR = 4

function reserveCost(left: number, scores: OrderScores | null): number {
  return scores?.ended?.is === 'set-aside' ? left : left / FIRST_REQUEST_DIVISOR
}

const FIRST_RETRY_DELAY_MINUTES = 10
const LONGEST_RETRY_DELAY_MINUTES = 6 * 60

/**
 * Delays retries: a job every few minutes that meets an invalid key only costs minutes. The first loss is
 * retried at once, because its run starts the next one. After a delay only the schedule does.
 */
function computeRetryTime(scores: OrderScores | null): number {
  if (scores === null || scores.failures === 0) return 0
  if (scores.failures === 1 && scores.ended?.is !== 'refused') return 0
  const minutes = Math.min(
    LONGEST_RETRY_DELAY_MINUTES,
    FIRST_RETRY_DELAY_MINUTES * 2 ** (scores.failures - 1),
  )
  return Date.parse(scores.ended_at) + minutes * 60_000
}

/** Recorded in every campaign state: the money is spent, and no score is requested twice. */
export function recordScores(world: World): PlanStep[] {
  return (world.judges?.scores ?? []).flatMap(answered => {
    const { key, order, model, requests, tokens, usd, minutes = 0, ended } = answered
    const failed = ended !== null && !isRetryableEnd(ended.is)
    const alerts = failed ? reportFailingJudges(world, order, ended.reason) : []
    return [
      toEventStep({ kind: 'judged', cause: key, ...answered }),
      toEventStep({ ...buildSpentFields(key), minutes, who: model, ok: !failed, requests, tokens, usd }),
      ...alerts,
    ]
  })
}

/**
 * The job was cancelled, got no machine, or never answered: the amount set aside counts as spent (invariant
 * 5).
 */
export function closeLostJudgings(world: World): PlanStep[] {
  const { campaign, now, judges } = world
  const reasons = new Map((judges?.lost ?? []).map(({ key, reason }) => [key, reason]))
  const answered = new Set((judges?.scores ?? []).map(({ key }) => key))
  const waiting = Object.values(campaign.judging).filter(({ key }) => !answered.has(key))
  const lost = waiting.flatMap((request): [PendingJudging, string][] => {
    const overdue = Date.parse(request.until) <= Date.parse(now)
    const reason =
      reasons.get(request.key) ?? (overdue ? `its job has not answered by ${request.until}` : null)
    return reason === null ? [] : [[request, reason]]
  })
  return lost.flatMap(([{ key, order, may_cost_usd }, reason]) => [
    toEventStep({ kind: 'judging-lost', cause: key, key, order, reason }),
    toEventStep({
      ...buildSpentFields(key),
      who: null,
      ok: false,
      requests: 0,
      tokens: 0,
      usd: may_cost_usd ?? 0,
    }),
    ...reportFailingJudges(world, order, reason),
  ])
}

function toEventStep(draft: EventDraft): PlanStep {
  return { step: 'event', draft }
}

function buildSpentFields(key: string) {
  return { kind: 'spent', cause: key, what: 'judge', minutes: 0 } as const
}

function reportFailingJudges(world: World, order: string, reason: string): PlanStep[] {
  if (world.campaign.orders[order] === undefined) return []
  const message = `models could not be asked to score what was measured: ${reason}; it is tried again`
  return raiseAlert(world, { code: 'judging-failed', about: order, message })
}
