import { isScored } from '../../judge/ask-judges.ts'
import { type Batch, buildBatches } from '../../judge/batch.ts'
import {
  buildJudgedReport,
  type PrintedOrder,
  type JudgingTask,
  prepareJudging,
} from '../../judge/judged-report.ts'
import type { LiveOrder } from '../../model/campaign.ts'
import type { OrderId } from '../../model/ids.ts'
import type { Report } from '../../model/report.ts'
import { explainMismatch } from '../../plan/arrivals.ts'
import type { RunFacts } from '../../plan/world.ts'
import type { Spec } from '../../spec/schema.ts'

/** What is asked of models. */
export interface ScoresToAsk {
  due: JudgingTask
  batches: Batch[]
}

/** The report where nothing is left to ask, or nothing is worth it. */
type ScoringState = { report: Report } | ScoresToAsk

/** What a measured order comes to with the scores that the ledger has: the same for whoever looks. */
export function computeScoringState(
  { order, scores }: LiveOrder,
  spec: Spec,
  printed: PrintedOrder,
): ScoringState {
  // What is about something else is rejected as it is, and nobody pays for its scores.
  if (explainMismatch(order, printed.report) !== null) return { report: printed.report }
  const due = prepareJudging({ order, spec }, printed)
  if ('executions' in due) return { report: due }
  const batches = buildBatches(due.pairs, due.judging)
  if (scores === null || !isScored(batches, scores.records)) return { due, batches }
  const { records, model, requests, tokens, usd } = scores
  const cost = { model, requests, tokens, usd }
  return { report: buildJudgedReport(order, printed, { ...due, records, cost }) }
}

/** Orders that were measured and wait for scores, as the process that found their items has them. */
export interface UnscoredOrders {
  printed(order: OrderId): PrintedOrder | null
  due(order: OrderId): ScoresToAsk | null
}

export function createUnscoredOrders(): UnscoredOrders & {
  take(live: LiveOrder, spec: Spec, found: { printed: PrintedOrder; digest: string }): RunFacts
} {
  const found = new Map<OrderId, ScoresToAsk & { printed: PrintedOrder }>()
  return {
    take(live, spec, { printed, digest }) {
      const runId = printed.report.run_id
      const scoring = computeScoringState(live, spec, printed)
      if ('report' in scoring) {
        found.delete(live.order.id)
        return { state: 'reported', runId, report: scoring.report }
      }
      found.set(live.order.id, { printed, ...scoring })
      return { state: 'printed', runId, digest }
    },
    printed: order => found.get(order)?.printed ?? null,
    due: order => found.get(order) ?? null,
  }
}
