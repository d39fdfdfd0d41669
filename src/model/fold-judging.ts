import type { AskedScores, Scores } from './asked.ts'
import type { Campaign } from './campaign.ts'
import type { Handler } from './fold-handler.ts'
import { isToGoOn } from './judging-end.ts'

const NONE: Scores = {
  records: [],
  model: '',
  requests: 0,
  tokens: 0,
  usd: 0,
  ended: null,
  ended_at: '',
  failures: 0,
}

const asked: Handler<'judging-asked'> = (campaign, event) => {
  const { key, order, until, may_cost_usd, at, by } = event
  campaign.judging[key] = { key, order, until, may_cost_usd, asked_at: at, run_id: by.run_id }
}

/** Whoever asks on goes by all that was said before. */
const judged: Handler<'judged'> = (campaign, event) => {
  delete campaign.judging[event.key]
  const live = campaign.orders[event.order]
  if (live === undefined || live.report !== null) return
  const { model, records, requests, tokens, usd, ended, at } = event
  const before = live.scores ?? NONE
  // Without a single score it would go on for ever.
  const failed = ended !== null && (!isToGoOn(ended.is) || (ended.is === 'late' && records.length === 0))
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

const lost: Handler<'judging-lost'> = (campaign, event) => {
  delete campaign.judging[event.key]
  const live = campaign.orders[event.order]
  if (live === undefined || live.report !== null) return
  const before = live.scores ?? NONE
  const ended = { is: 'unreachable', reason: event.reason } as const
  live.scores = { ...before, ended, ended_at: event.at, failures: before.failures + 1 }
}

/** That of an order which a job of its own has scored now. */
export function openJudging({ judging }: Pick<Campaign, 'judging'>, order: string): AskedScores | null {
  return Object.values(judging).find(asking => asking.order === order) ?? null
}

export const judgingHandlers = { 'judging-asked': asked, judged, 'judging-lost': lost }
