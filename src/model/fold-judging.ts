import type { PendingJudging, OrderScores } from './asked.ts'
import type { Campaign } from './campaign.ts'
import type { EventHandler } from './fold-handler.ts'
import { isRetryableEnd } from './judging-end.ts'

const NO_SCORES: OrderScores = {
  records: [],
  model: '',
  requests: 0,
  tokens: 0,
  usd: 0,
  ended: null,
  ended_at: '',
  failures: 0,
}

const applyJudgingAsked: EventHandler<'judging-asked'> = (campaign, event) => {
  const { key, order, until, may_cost_usd, at, by } = event
  campaign.judging[key] = { key, order, until, may_cost_usd, asked_at: at, run_id: by.run_id }
}

/** Whoever asks on goes by all that was said before. */
const applyJudged: EventHandler<'judged'> = (campaign, event) => {
  delete campaign.judging[event.key]
  const live = campaign.orders[event.order]
  if (live === undefined || live.report !== null) return
  const { model, records, requests, tokens, usd, ended, at } = event
  const before = live.scores ?? NO_SCORES
  // Without a single score it would go on for ever.
  const failed =
    ended !== null && (!isRetryableEnd(ended.is) || (ended.is === 'late' && records.length === 0))
  live.scores = {
    records: [...before.records, ...records],
    model,
    requests: before.requests + requests,
    tokens: before.tokens + tokens,
    usd: before.usd + usd,
    ended,
    ended_at: at,
    failures: failed ? before.failures + 1 : 0,
  }
}

const applyJudgingLost: EventHandler<'judging-lost'> = (campaign, event) => {
  delete campaign.judging[event.key]
  const live = campaign.orders[event.order]
  if (live === undefined || live.report !== null) return
  const before = live.scores ?? NO_SCORES
  const ended = { is: 'unreachable', reason: event.reason } as const
  live.scores = { ...before, ended, ended_at: event.at, failures: before.failures + 1 }
}

/** That of an order which a job of its own has scored now. */
export function findPendingJudging(
  { judging }: Pick<Campaign, 'judging'>,
  order: string,
): PendingJudging | null {
  return Object.values(judging).find(asking => asking.order === order) ?? null
}

export const judgingHandlers = {
  'judging-asked': applyJudgingAsked,
  judged: applyJudged,
  'judging-lost': applyJudgingLost,
}
