import type { EventDraft } from './event.ts'
import type { EventId, OrderId, Point } from './ids.ts'
import type { ScoreRecord } from './score-record.ts'

/** A proposer that a job of its own asks, until its idea is an experiment or there will be none. */
export interface PendingProposal {
  key: string
  who: string
  base: Point
  until: string
  carries: EventId | null
  /** Where it was told to look. */
  angle: string | null
  /** The number of the first experiment that its brief could not name. */
  first_unseen: number
  asked_at: string
  /** The run whose job asks: answers that come with another one count for nothing. */
  run_id: string
  brought: ProposalResult | null
}

/** Its answer: an idea, and the change of the base that carries it out. */
export type ProposalResult = Omit<EventDraft<'idea-brought'>, 'kind' | 'cause' | 'key'>

/** An order that a job of its own has scored by models, until that job has answered. */
export interface PendingJudging {
  key: string
  order: OrderId
  until: string
  may_cost_usd: number | null
  asked_at: string
  /** The run whose job asks: scores that come with another one count for nothing. */
  run_id: string
}

export interface OrderScores {
  records: ScoreRecord[]
  model: string
  requests: number
  tokens: number
  usd: number
  /** Why the last job that asked ended before its time; null where it did not. */
  ended: EventDraft<'judged'>['ended']
  ended_at: string
  /** Jobs in a row that could ask no model. */
  failures: number
}
