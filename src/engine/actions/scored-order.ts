import { isScored } from '../../judge/ask-judges.ts'
import { type Batch, batchesOf } from '../../judge/batch.ts'
import { judgedReport, type PrintedOrder, type ToJudge, toJudge } from '../../judge/judged-report.ts'
import type { LiveOrder } from '../../model/campaign.ts'
import type { Report } from '../../model/report.ts'
import { whyNotMeasured } from '../../plan/arrivals.ts'
import type { Spec } from '../../spec/schema.ts'

export type Scoring =
  /** Nothing is left to ask, or nothing is worth it. */
  { report: Report } | { due: ToJudge; batches: Batch[] }

/** What a measured order comes to with the scores that the ledger has: the same for whoever looks. */
export function scoringOf({ order, scores }: LiveOrder, spec: Spec, printed: PrintedOrder): Scoring {
  // What is about something else is rejected as it is, and nobody pays for its scores.
  if (whyNotMeasured(order, printed.report) !== null) return { report: printed.report }
  const due = toJudge({ order, spec }, printed)
  if ('executions' in due) return { report: due }
  const batches = batchesOf(due.pairs, due.judging)
  if (scores === null || !isScored(batches, scores.records)) return { due, batches }
  const { records, model, requests, tokens, usd } = scores
  const cost = { model, requests, tokens, usd }
  return { report: judgedReport(order, printed, { ...due, records, cost }) }
}
