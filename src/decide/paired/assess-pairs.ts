import { toPairRequest, type Order, type StopRule } from '../../model/order.ts'
import { buildPairJob, toMeasuredRun } from '../../model/pairs.ts'
import type { Report, Side } from '../../model/report.ts'
import type { Spec } from '../../spec/schema.ts'
import { createRetryFinding, type AssessmentFinding, createFinding } from '../assessment.ts'
import { computeReportedEffect } from '../evidence/reported-effect.ts'
import { isHarmShown } from '../evidence/verdict.ts'
import { findFailure } from '../failures.ts'
import { listObjectives, getScoreTerms } from '../objectives.ts'
import { formatCount } from '../wording.ts'
import { formatEffect } from './effect-text.ts'
import { computeDifferences, collectMetricPairs } from './metric-pairs.ts'
import { selectScale } from './objective-evidence.ts'

type PairsRule = Extract<StopRule, { rule: 'pairs' }>
type PairsInput = { spec: Spec; order: Pick<Order, 'id' | 'stop' | 'carried'>; report: Report; label: Side }

/** What nobody asks a gain of (a revert, somebody else's tip): its gates hold, and no harm is shown by its pairs. */
export function assessPairs(input: PairsInput, rule: PairsRule): AssessmentFinding {
  const { spec, order, report, label } = input
  const failure = findFailure({ spec, report, label, pairs: true })
  if (failure !== null) return failure
  const job = buildPairJob(toPairRequest(order), toMeasuredRun(report), label)
  if (!job.complete)
    return createRetryFinding(`the report has ${job.pairs.length} of ${formatCount(rule.pairs, 'pair')}`)
  const harmed = listObjectives(spec.metric).flatMap(({ name, direction }) => {
    const pairs = collectMetricPairs([job], name)
    const scale = selectScale(rule, pairs)
    return isHarmShown(computeDifferences(pairs, { direction, scale })) ? [name] : []
  })
  const [primary] = listObjectives(spec.metric)
  const pairs = collectMetricPairs([job], primary.name)
  const scale = selectScale(rule, pairs)
  const { effect, interval } = computeReportedEffect(
    computeDifferences(pairs, { direction: primary.direction, scale }),
    getScoreTerms(spec.metric, primary),
  )
  const said = effect === null ? primary.name : formatEffect(effect, interval, { ...primary, scale })
  const worse = harmed.length > 0
  const reason = `${worse ? `${harmed.join(', ')} shown to be worse: ` : 'no harm shown: '}${said}, ${formatCount(job.pairs.length, 'pair')}`
  return createFinding(worse ? 'dropped' : 'inconclusive', reason, {
    worse,
    violated_objectives: harmed,
    primary_delta: effect,
    rank_score: effect ?? 0,
  })
}
