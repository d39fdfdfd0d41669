import { type Order, type StopRule, toPairRequest } from '../../model/order.ts'
import { buildPairJob, type MeasuredRun, type PairJob, toMeasuredRun } from '../../model/pairs.ts'
import { aggregateValues, type Report, type Side } from '../../model/report.ts'
import { formatReason } from '../../model/text.ts'
import type { Spec } from '../../spec/schema.ts'
import { isJudgedMetric } from '../../spec/spec-facts.ts'
import { type AssessmentFinding, createFinding, createRetryFinding } from '../assessment.ts'
import type { Comparison } from '../ce/comparison.ts'
import { isGainExcluded, isWorthSecondLook } from '../evidence/give-up.ts'
import { computeReportedEffect } from '../evidence/interval.ts'
import { MAX_CANDIDATE_FAILURES } from '../evidence/observe.ts'
import { computeEvidenceVerdict, isHarmShown } from '../evidence/rules.ts'
import { describeFailureOnBothSides, findFailure } from '../failures.ts'
import { getScoreTerms, listObjectives, type Objective } from '../metrics.ts'
import { isTargetReached } from '../stop-rules.ts'
import { formatCount } from '../wording.ts'
import { formatEffect } from './effect-text.ts'
import {
  collectMetricPairs,
  computeDifferences,
  evaluatePairs,
  findOffScaleMetric,
  type PairedCase,
  type PairedRule,
  type PairsEvaluation,
  selectScale,
} from './evaluate.ts'
import { renderEvidenceLine, renderEvidenceSentence } from './evidence-text.ts'
import { describeSlowRuns } from './mean-text.ts'

type PairedInput = {
  spec: Spec
  order: Pick<Order, 'id' | 'stop' | 'earlier_jobs'>
  report: Report
  label: Side
}

/** The verdict on one candidate by the pairs of all its jobs (docs/deciding.md, When it stops). */
export function assessPaired(input: PairedInput, rule: PairedRule): AssessmentFinding {
  const { spec, order, report, label } = input
  const failure = findFailure({ spec, report, label, pairs: true })
  if (failure !== null) return failure
  const terms = rule.terms[label]
  if (terms === undefined) return createRetryFinding(`the order has no terms for ${label}`)
  const jobs = listPairJobs(order, toMeasuredRun(report), label)
  const all = jobs.flatMap(({ pairs }) => pairs)
  const broken = all.filter(({ base, candidate }) => base !== null && candidate === null).length >= 2
  const flaky = !isJudgedMetric(spec) && all.some(({ base, lost }) => base === null && !lost)
  if (broken && flaky) return createRetryFinding(describeFailureOnBothSides())
  if (jobs.at(-1)?.order !== order.id) return createRetryFinding(`the report has no pair of ${label}`)
  const paired = { spec, rule, terms, jobs, two_samples: hasOtherItems(report, label) }
  const off = findOffScaleMetric(paired)
  if (off !== null) return createScaleViolation(off)
  const evaluation = evaluatePairs(paired)
  if (evaluation.status !== 'continue') return decidePaired(paired, evaluation)
  if (evaluation.check !== null && jobs.at(-1)?.complete === true)
    return decidePaired(paired, { ...evaluation, status: 'new-job' })
  // All pairs were run, and only those for a proof are missing: there is no proof.
  if (jobs.at(-1)?.complete === true) return decidePaired(paired, { ...evaluation, status: 'not-proven' })
  // A job that ends before its rule allows it would let its runner choose when to stop.
  const ran = jobs.at(-1)?.pairs.length ?? 0
  return createRetryFinding(`the report ends after ${ran} of ${formatCount(rule.pairs, 'pair')}, too early`)
}

function hasOtherItems({ executions, judging }: Report, label: Side): boolean {
  if (judging === undefined) return false
  const listIds = (side: Side) =>
    executions.filter(run => run.side === side).flatMap(({ tasks = {} }) => Object.keys(tasks))
  const known = new Set(listIds('base'))
  return listIds(label).some(id => !known.has(id))
}

function createScaleViolation(metric: string): AssessmentFinding {
  const reason = `scale violated: ${metric} was 0 or less, and this campaign compares it on a log scale since its calibration`
  const fix = 'set evidence.scale: linear if that can happen'
  return createFinding('error', `${reason}; ${fix}`, { failure_class: 'eval' })
}

function decidePaired(paired: PairedCase & { spec: Spec }, evaluation: PairsEvaluation): AssessmentFinding {
  const { status, primary, harmed } = evaluation
  if (status === 'continue') throw new TypeError('a job that still runs has no verdict')
  const { reason, effect } = computeEvidenceVerdict(primary)
  if (status === 'drop' && (reason === 'broken' || primary.failures >= MAX_CANDIDATE_FAILURES)) {
    const broken = isJudgedMetric(paired.spec)
      ? 'two of its items have no score, but those of the base have one'
      : 'two of its executions failed, but those of the base ran'
    return createFinding('error', broken, { failure_class: 'eval' })
  }
  const outcome = toPairedOutcome(status, evaluation)
  const parts = {
    sentence: renderEvidenceSentence(paired, evaluation),
    evidence: renderEvidenceLine(paired, evaluation),
  }
  return createFinding(outcome, formatReason(parts), {
    worse: outcome === 'dropped' && harmed.length > 0,
    comparisons: buildComparisons(paired, evaluation),
    improved_objectives: evaluation.improved,
    violated_objectives: harmed,
    primary_delta: effect,
    rank_score: effect ?? 0,
    target_reached: outcome === 'eligible' && isTargetHeld(paired),
    failure_class: outcome === 'dropped' ? 'hypothesis' : null,
    sometimes_slower: describeSlowRuns(paired, evaluation),
    given_up: outcome === 'inconclusive' ? getGiveUpState(evaluation) : null,
  })
}

const PAIRED_OUTCOMES = {
  keep: 'eligible',
  drop: 'dropped',
  'not-proven': 'inconclusive',
  'new-job': 'promising',
} as const

/** "No gain" is a claim that later pairs, measured for another metric, can refute. */
function toPairedOutcome(
  status: keyof typeof PAIRED_OUTCOMES,
  { primary, harmed }: PairsEvaluation,
): AssessmentFinding['outcome'] {
  const claimed = harmed.length > 0 || isGainExcluded(primary)
  return status === 'drop' && !claimed ? 'inconclusive' : PAIRED_OUTCOMES[status]
}

/** The primary's effect is on its scale; under log the relative gain is that number as well. */
function buildComparisons({ spec }: PairedCase, evaluation: PairsEvaluation): Record<string, Comparison> {
  const [primary] = listObjectives(spec.metric)
  const { effect } = computeEvidenceVerdict(evaluation.primary)
  if (effect === null) return {}
  const improved = evaluation.improved.includes(primary.name)
  const violated = evaluation.harmed.includes(primary.name)
  const is = improved ? 'improved' : violated ? 'regressed' : 'inconclusive'
  return { [primary.name]: { verdict: is, delta: effect, relative: effect, violated } }
}

/** The cautious end of the interval must reach the target (spec.md, stopping.target_reached). */
function isTargetHeld({ spec, rule, jobs }: PairedCase & { spec: Spec }): boolean {
  return isTargetReached(listObjectives(spec.metric), objective => {
    const { name, direction } = objective
    const pairs = collectMetricPairs(jobs, name)
    const scale = selectScale(rule, pairs)
    const { interval } = computeReportedEffect(
      computeDifferences(pairs, { direction, scale }),
      getScoreTerms(spec, objective),
    )
    const base = aggregateValues(
      pairs.flatMap(pair => pair.base ?? []),
      'median',
    )
    if (interval === null || base === null) return undefined
    const gain = direction === 'minimize' ? -interval[0] : interval[0]
    return scale === 'log' ? base * Math.exp(gain) : base + gain
  })
}

function getGiveUpState({ primary, promising }: PairsEvaluation): AssessmentFinding['given_up'] {
  if (promising !== null || (primary.given_up === null && primary.decided === null)) return null
  return isWorthSecondLook(primary) ? 'for_now' : 'for_good'
}

type PairsRule = Extract<StopRule, { rule: 'pairs' }>

/** For a revert or a foreign tip, which need no gain: gates must hold, and its pairs must not show harm. */
export function assessPairs(input: PairedInput, rule: PairsRule): AssessmentFinding {
  const { spec, order, report, label } = input
  const failure = findFailure({ spec, report, label, pairs: true })
  if (failure !== null) return failure
  const job = buildPairJob(toPairRequest(order), toMeasuredRun(report), label)
  if (!job.complete)
    return createRetryFinding(`the report holds ${job.pairs.length} of ${formatCount(rule.pairs, 'pair')}`)
  const objectives = listObjectives(spec.metric)
  const compare = ({ name, direction }: Objective) => {
    const pairs = collectMetricPairs([job], name)
    const scale = selectScale(rule, pairs)
    return { scale, differences: computeDifferences(pairs, { direction, scale }) }
  }
  const harmed = objectives.filter(each => isHarmShown(compare(each).differences)).map(({ name }) => name)
  const [primary] = objectives
  const { scale, differences } = compare(primary)
  const { effect, interval } = computeReportedEffect(differences, getScoreTerms(spec, primary))
  const parts = effect === null ? primary.name : formatEffect(effect, interval, { ...primary, scale })
  const worse = harmed.length > 0
  const reason = `${worse ? `${harmed.join(', ')} proven worse: ` : 'no harm shown: '}${parts}, ${formatCount(job.pairs.length, 'pair')}`
  return createFinding(worse ? 'dropped' : 'inconclusive', reason, {
    worse,
    violated_objectives: harmed,
    primary_delta: effect,
    rank_score: effect ?? 0,
  })
}

export function listPairJobs(
  order: Pick<Order, 'id' | 'stop' | 'earlier_jobs'>,
  measured: MeasuredRun,
  label: Side,
): PairJob[] {
  const job = buildPairJob(toPairRequest(order), measured, label)
  const earlier_jobs = order.earlier_jobs[label] ?? []
  return job.pairs.length === 0 ? earlier_jobs : [...earlier_jobs, job]
}

type PairsContext = { spec: Spec; order: Order; stop: PairedRule }

/** Called after every pair (docs/deciding.md, When it stops): whether this candidate needs another one in this job. */
export function isPairNeeded({ spec, order, stop }: PairsContext, soFar: MeasuredRun, label: Side): boolean {
  const terms = stop.terms[label]
  if (terms === undefined) return false
  const earlier_jobs = order.earlier_jobs[label] ?? []
  const jobs = listPairJobs(order, soFar, label)
  const paired = { spec, rule: stop, terms, jobs }
  if (findOffScaleMetric(paired) !== null) return false
  // A report without any pair says nothing. If only one machine is left by now, earlier pairs may suffice.
  return jobs.length === earlier_jobs.length || evaluatePairs(paired).status === 'continue'
}
