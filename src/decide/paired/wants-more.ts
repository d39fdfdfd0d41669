import { toPairRequest, type Order } from '../../model/order.ts'
import { type PairJob, buildPairJob, type MeasuredRun } from '../../model/pairs.ts'
import type { Side } from '../../model/report.ts'
import type { Spec } from '../../spec/schema.ts'
import type { PairedRule } from './rule.ts'
import { findOffScaleMetric, evaluatePairs } from './standing.ts'

type PairsContext = { spec: Spec; order: Order; stop: PairedRule }

/** What is known of a candidate: earlier jobs, and this one as far as it has come. */
export function listPairJobs(
  order: Pick<Order, 'id' | 'stop' | 'carried'>,
  measured: MeasuredRun,
  label: Side,
): PairJob[] {
  const job = buildPairJob(toPairRequest(order), measured, label)
  const carried = order.carried[label] ?? []
  return job.pairs.length === 0 ? carried : [...carried, job]
}

/** Asked after every pair of a job (decision.md 3.3): does this candidate need another pair in it? */
export function isPairNeeded({ spec, order, stop }: PairsContext, soFar: MeasuredRun, label: Side): boolean {
  const terms = stop.terms[label]
  if (terms === undefined) return false
  const carried = order.carried[label] ?? []
  const jobs = listPairJobs(order, soFar, label)
  const paired = { spec, rule: stop, terms, jobs }
  if (findOffScaleMetric(paired) !== null) return false
  // A report without any pair says nothing. Where the runners have become one machine, earlier pairs may suffice by now.
  return jobs.length === carried.length || evaluatePairs(paired).status === 'continue'
}
