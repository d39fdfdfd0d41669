import type { LiveOrder, OrderScores } from '../model/campaign.ts'
import { isRetryableEnd } from '../model/event-schemas.ts'
import { findPendingJudging } from '../model/fold/proposers.ts'
import type { Spec } from '../spec/schema.ts'
import type { PlanStep } from './action.ts'
import { computeMoneyLeft, takeShare } from './money.ts'
import { computeJudgingSeconds } from './orders.ts'
import {
  computeRetryDelay,
  draftRequest,
  limitJobMinutes,
  reportFailingJudges,
  toEventStep,
} from './requests.ts'
import type { World } from './world.ts'

/** Upper limit for a job that has all waiting items scored. */
export function computeJudgingMinutes(spec: Pick<Spec, 'metric' | 'measurement'>): number {
  return limitJobMinutes(computeJudgingSeconds(spec))
}

/** The request sets aside the most that its job may cost, which a job that vanishes has cost. */
export function requestJudgingJob(world: World): PlanStep[] {
  if (!world.judgeJob) return []
  const { campaign, spec, now } = world
  let left = computeMoneyLeft(world, 'judge')
  const steps: PlanStep[] = []
  for (const { order, scores } of listPrintedOrders(world)) {
    if (findPendingJudging(campaign, order.id) !== null || computeRetryTime(scores) > Date.parse(now))
      continue
    const may_cost_usd = left === null ? null : reserveCost(left, scores)
    if (may_cost_usd !== null && !(may_cost_usd > 0)) continue
    if (left !== null) left -= may_cost_usd ?? 0
    const { cause, nonce, until } = draftRequest(world, `judging ${order.id}`, computeJudgingMinutes(spec))
    const request = { key: `judging:${nonce}`, order: order.id, until, may_cost_usd }
    steps.push(toEventStep({ kind: 'judging-requested', cause, ...request }))
  }
  return steps
}

export function listPrintedOrders({ campaign, runs }: Pick<World, 'campaign' | 'runs'>): LiveOrder[] {
  return Object.values(campaign.orders).filter(
    ({ order, report }) => report === null && runs.get(order.id)?.state === 'printed',
  )
}

function reserveCost(left: number, scores: OrderScores | null): number {
  return scores?.ended?.is === 'set-aside' ? left : takeShare(left)
}

const RETRY_DELAY_MINUTES = { first: 10, longest: 6 * 60 }

/** The first loss is retried at once, because its run starts the next one. Later retries are delayed. */
function computeRetryTime(scores: OrderScores | null): number {
  if (scores === null || scores.failures === 0) return 0
  if (scores.failures === 1 && scores.ended?.is !== 'refused') return 0
  return Date.parse(scores.ended_at) + computeRetryDelay(scores.failures - 1, RETRY_DELAY_MINUTES) * 60_000
}

/** Recorded in every campaign state: the money is spent, and no score is requested twice. */
export function recordScores(world: World): PlanStep[] {
  return world.scores.flatMap(answered => {
    const { key, order, model: who, requests, tokens, usd, minutes = 0, ended } = answered
    const isFailed = ended !== null && !isRetryableEnd(ended.is)
    const cost = { minutes, requests, tokens, usd }
    return [
      toEventStep({ kind: 'judged', cause: key, ...answered }),
      toEventStep({ kind: 'spent', cause: key, what: 'judge', who, ok: !isFailed, ...cost }),
      ...(isFailed ? reportFailingJudges(world, order, ended.reason) : []),
    ]
  })
}
