import type { AskedScores, Scores } from '../model/asked.ts'
import type { LiveOrder } from '../model/campaign.ts'
import type { EventDraft } from '../model/event.ts'
import { openJudging } from '../model/fold-judging.ts'
import { canonicalJson, sha256 } from '../model/canonical.ts'
import { isToGoOn } from '../model/judging-end.ts'
import type { Spec } from '../spec/schema.ts'
import type { Step } from './action.ts'
import { alertOnce } from './alerts.ts'
import { judgingSeconds } from './orders.ts'
import type { World } from './world.ts'

/** Below what GitHub allows a job. */
const MOST_MINUTES = 350
/** Until the job has a machine and the repository, and after it until its answer is taken in. */
const MINUTES_AROUND = 30

/** What a job may take that has everything scored that is waiting: what is left then, the next one asks for. */
export function judgingMinutes(spec: Pick<Spec, 'metric'>): number {
  return Math.min(MOST_MINUTES, Math.ceil(judgingSeconds(spec) / 60) + MINUTES_AROUND)
}

/**
 * Invariant 7: which orders a job has scored, and what that may cost at most, are events before any model is asked, so
 * that two wake-ups pay nobody twice and a job that vanishes has cost what was set aside for it.
 */
export function judgeElsewhere(world: World): Step[] {
  if (world.judges?.follow !== true) return []
  const { campaign, spec, now } = world
  const until = new Date(Date.parse(now) + (judgingMinutes(spec) + MINUTES_AROUND) * 60_000).toISOString()
  let left = leftUsd(world)
  const steps: Step[] = []
  for (const { order, scores } of printedOrders(world)) {
    if (openJudging(campaign, order.id) !== null || restsUntil(scores) > Date.parse(now)) continue
    const may_cost_usd = left === null ? null : setAside(left, scores)
    if (may_cost_usd !== null && !(may_cost_usd > 0)) continue
    if (left !== null) left -= may_cost_usd ?? 0
    const cause = `judging ${order.id} at ${campaign.seq}`
    const key = `judging:${sha256(canonicalJson([campaign.started, cause])).slice(0, 16)}`
    steps.push({
      step: 'event',
      draft: { kind: 'judging-asked', cause, key, order: order.id, until, may_cost_usd },
    })
  }
  return steps
}

/** Orders that were measured and wait for scores. */
export function printedOrders({ campaign, runs }: Pick<World, 'campaign' | 'runs'>): LiveOrder[] {
  return Object.values(campaign.orders).filter(
    ({ order, report }) => report === null && runs.get(order.id)?.state === 'printed',
  )
}

/** Of the cap, what was neither spent nor set aside; null: there is none. */
function leftUsd({ campaign, spec }: World): number | null {
  const cap = spec.metric.judge?.max_total_cost_usd ?? null
  if (cap === null) return null
  const aside = Object.values(campaign.judging).reduce((sum, one) => sum + (one.may_cost_usd ?? 0), 0)
  return cap - campaign.spent.usd - aside
}

/** So that one job that is lost is not the end: a part first, and everything for an order that needs more than that. */
const PART = 4

function setAside(left: number, scores: Scores | null): number {
  return scores?.ended?.is === 'set-aside' ? left : left / PART
}

const FIRST_REST_MINUTES = 10
const LONGEST_REST_MINUTES = 6 * 60

/**
 * A job every few minutes that finds a key that is not valid helps nobody. One that was lost is tried once more at once:
 * its run starts the next one, and after a rest only the schedule does.
 */
function restsUntil(scores: Scores | null): number {
  if (scores === null || scores.failures === 0) return 0
  if (scores.failures === 1 && scores.ended?.is !== 'refused') return 0
  const minutes = Math.min(LONGEST_REST_MINUTES, FIRST_REST_MINUTES * 2 ** (scores.failures - 1))
  return Date.parse(scores.ended_at) + minutes * 60_000
}

/** Recorded with what it cost, wherever the campaign stands by now: money is spent, and no score is asked for twice. */
export function toldScores(world: World): Step[] {
  return (world.judges?.told ?? []).flatMap(told => {
    const { key, order, model, requests, tokens, usd, minutes = 0, ended } = told
    const failed = ended !== null && !isToGoOn(ended.is)
    const alerts = failed ? failing(world, order, ended.reason) : []
    return [
      event({ kind: 'judged', cause: key, ...told }),
      event({ ...spentBy(key), minutes, who: model, ok: !failed, requests, tokens, usd }),
      ...alerts,
    ]
  })
}

/** Its job was cancelled, or never got a machine, or never told: what was set aside counts as spent (invariant 5). */
export function lostJudgings(world: World): Step[] {
  const { campaign, now, judges } = world
  const reasons = new Map((judges?.untold ?? []).map(({ key, reason }) => [key, reason]))
  const told = new Set((judges?.told ?? []).map(({ key }) => key))
  const waiting = Object.values(campaign.judging).filter(({ key }) => !told.has(key))
  const lost = waiting.flatMap((asking): [AskedScores, string][] => {
    const overdue = Date.parse(asking.until) <= Date.parse(now)
    const reason = reasons.get(asking.key) ?? (overdue ? `its job has not answered by ${asking.until}` : null)
    return reason === null ? [] : [[asking, reason]]
  })
  return lost.flatMap(([{ key, order, may_cost_usd }, reason]) => [
    event({ kind: 'judging-lost', cause: key, key, order, reason }),
    event({ ...spentBy(key), who: null, ok: false, requests: 0, tokens: 0, usd: may_cost_usd ?? 0 }),
    ...failing(world, order, reason),
  ])
}

function event(draft: EventDraft): Step {
  return { step: 'event', draft }
}

function spentBy(key: string) {
  return { kind: 'spent', cause: key, what: 'judge', minutes: 0 } as const
}

/** Of what somebody still waits for: nothing else is tried again. */
function failing(world: World, order: string, reason: string): Step[] {
  if (world.campaign.orders[order] === undefined) return []
  const message = `models could not be asked to score what was measured: ${reason}; it is tried again`
  return alertOnce(world, { code: 'judging-failed', about: order, message })
}
