import type { Report, Side, Snapshot } from '../../model/report.ts'
import type { Spec } from '../../spec/schema.ts'
import { isJudgedMetric } from '../../spec/spec-facts.ts'
import { type AssessmentFinding, createFinding, createRetryFinding } from '../assessment.ts'
import { computeSignedDelta, listExecutions, lookUpMetric } from '../metrics.ts'
import { formatCount, formatNumber } from '../wording.ts'

/** Recorded beside the mean of a side's sample: how many items it is of. */
export const SCORED_ITEMS = 'scored_items'

/** Recorded of probes: how many of these items the base prints alike. */
export const SHARED_ITEMS = 'shared_items'

/** The mean of the second sample, which confirms the first. */
export function toConfirmedName(primary: string): string {
  return `${primary}_confirmed`
}

interface JudgedComparison {
  spec: Spec
  report: Report
  label: Side
  baseline: Snapshot
  candidate: Snapshot
}

/** Means that cannot be compared. Null where both samples are whole, and for metrics that no model scores. */
export function findIncompleteScores(compared: JudgedComparison): AssessmentFinding | null {
  const { spec, report, label, baseline, candidate } = compared
  if (!isJudgedMetric(spec)) return null
  const findError = (side: Side) =>
    listExecutions(report, side, 'sample').find(({ error }) => error !== undefined)?.error
  const base = findError('base')
  if (base !== undefined && label !== 'base') return createRetryFinding(`the base: ${base}`)
  const own = findError(label)
  if (own !== undefined) return createFinding('error', own, { failure_class: 'eval' })
  const [before = 0, after = 0] = [baseline, candidate].map(
    snapshot => lookUpMetric(snapshot, SCORED_ITEMS, { judged: false, aggregation: 'median' })?.value,
  )
  if (after >= before) return null
  const reason = `it prints ${formatCount(after, 'item')}, and the mean of the base is over ${before}`
  return createFinding('error', reason, { failure_class: 'eval' })
}

/** A stored score has to be one: without it no idea, and no later pass, could be compared. */
export function explainMissingMean({ executions, judging }: Report): string | null {
  if (judging === undefined) return null
  const run = executions.find(({ error }) => error !== undefined)
  return run === undefined ? null : `it has no score to compare with: ${run.error}`
}

/** Why a gain, or a tie, is not kept although the first sample shows it; null where the second shows it as well. */
export function explainUnconfirmed(
  { spec, baseline, candidate }: JudgedComparison,
  isTie: boolean,
): string | null {
  const { primary, judge } = spec.metric
  if (!isJudgedMetric(spec) || judge === null || judge.confirmation_seed === null) return null
  const name = toConfirmedName(primary.name)
  const [before, after] = [baseline, candidate].map(snapshot =>
    lookUpMetric(snapshot, name, { judged: false, aggregation: 'median' }),
  )
  if (!before || !after) return 'a confirming sample has no score'
  const gain = computeSignedDelta(before.value, after.value, primary.direction)
  if (isTie ? -gain <= judge.minimum_improvement : gain > judge.minimum_improvement) return null
  const change = `${formatNumber(before.value)} to ${formatNumber(after.value)}`
  return `a second sample of other items does not confirm it: ${change}`
}
