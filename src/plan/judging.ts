import type { LiveOrder, OrderScores, PendingJudging } from '../model/campaign.ts'
import { hashSha256, toCanonicalJson } from '../model/canonical-json.ts'
import { isRetryableEnd } from '../model/event-schemas.ts'
import type { EventDraft } from '../model/event.ts'
import { findPendingJudging } from '../model/fold/proposers.ts'
import type { Spec } from '../spec/schema.ts'
import { type PlanStep, raiseAlert } from './action.ts'
import { computeJudgingSeconds } from './orders.ts'
import type { World } from './world.ts'

/** Below what GitHub allows a job. */
const MAX_JUDGE_JOB_MINUTES = 350
/** Until the job has a machine and the repository, and after it until its answer is taken in. */
const JUDGE_JOB_OVERHEAD_MINUTES = 30

/** What a job may take that has everything scored that is waiting: what is left then, the next one asks for. */
export function computeJudgingMinutes(spec: Pick<Spec, 'metric'>): number {
  return Math.min(
    MAX_JUDGE_JOB_MINUTES,
    Math.ceil(computeJudgingSeconds(spec) / 60) + JUDGE_JOB_OVERHEAD_MINUTES,
  )
}

/**
 * Invariant 7: which orders a job has scored, and what that may cost at most, are events before any model is asked, so
 * that two wake-ups pay nobody twice and a job that vanishes has cost what was set aside for it.
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
    if (findPendingJudging(campaign, order.id) !== null || computeJudgeRest(scores) > Date.parse(now))
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

/** Orders that were measured and wait for scores. */
export function listPrintedOrders({ campaign, runs }: Pick<World, 'campaign' | 'runs'>): LiveOrder[] {
  return Object.values(campaign.orders).filter(
    ({ order, report }) => report === null && runs.get(order.id)?.state === 'printed',
  )
}

/** Of the cap, what was neither spent nor set aside; null: there is none. */
function computeLeftUsd({ campaign, spec }: World): number | null {
  const cap = spec.metric.judge?.max_total_cost_usd ?? null
  if (cap === null) return null
  const aside = Object.values(campaign.judging).reduce((sum, one) => sum + (one.may_cost_usd ?? 0), 0)
  return cap - campaign.spent.usd - aside
}

/** So that one job that is lost is not the end: a part first, and everything for an order that needs more than that. */
const FIRST_PART = 4

function reserveCost(left: number, scores: OrderScores | null): number {
  return scores?.ended?.is === 'set-aside' ? left : left / FIRST_PART
}

const FIRST_JUDGE_REST_MINUTES = 10
const LONGEST_JUDGE_REST_MINUTES = 6 * 60

/**
 * A job every few minutes that finds a key that is not valid helps nobody. One that was lost is tried once more at once:
 * its run starts the next one, and after a rest only the schedule does.
 */
function computeJudgeRest(scores: OrderScores | null): number {
  if (scores === null || scores.failures === 0) return 0
  if (scores.failures === 1 && scores.ended?.is !== 'refused') return 0
  const minutes = Math.min(LONGEST_JUDGE_REST_MINUTES, FIRST_JUDGE_REST_MINUTES * 2 ** (scores.failures - 1))
  return Date.parse(scores.ended_at) + minutes * 60_000
}

/** Recorded with what it cost, wherever the campaign stands by now: money is spent, and no score is asked for twice. */
export function recordScores(world: World): PlanStep[] {
  return (world.judges?.scores ?? []).flatMap(told => {
    const { key, order, model, requests, tokens, usd, minutes = 0, ended } = told
    const failed = ended !== null && !isRetryableEnd(ended.is)
    const alerts = failed ? reportFailingJudges(world, order, ended.reason) : []
    return [
      toEventStep({ kind: 'judged', cause: key, ...told }),
      toEventStep({ ...buildSpentFields(key), minutes, who: model, ok: !failed, requests, tokens, usd }),
      ...alerts,
    ]
  })
}

/** Its job was cancelled, or never got a machine, or never told: what was set aside counts as spent (invariant 5). */
export function closeLostJudgings(world: World): PlanStep[] {
  const { campaign, now, judges } = world
  const reasons = new Map((judges?.lost ?? []).map(({ key, reason }) => [key, reason]))
  const told = new Set((judges?.scores ?? []).map(({ key }) => key))
  const waiting = Object.values(campaign.judging).filter(({ key }) => !told.has(key))
  const lost = waiting.flatMap((asking): [PendingJudging, string][] => {
    const overdue = Date.parse(asking.until) <= Date.parse(now)
    const reason = reasons.get(asking.key) ?? (overdue ? `its job has not answered by ${asking.until}` : null)
    return reason === null ? [] : [[asking, reason]]
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

/** Of what somebody still waits for: nothing else is tried again. */
function reportFailingJudges(world: World, order: string, reason: string): PlanStep[] {
  if (world.campaign.orders[order] === undefined) return []
  const message = `models could not be asked to score what was measured: ${reason}; it is tried again`
  return raiseAlert(world, { code: 'judging-failed', about: order, message })
}
