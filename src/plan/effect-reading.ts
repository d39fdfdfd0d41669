import { checkRegression } from '../decide/evidence/regression-check.ts'
import { computeReportedEffect } from '../decide/evidence/reported-effect.ts'
import { findFailure } from '../decide/failures.ts'
import { listObjectives, getScoreTerms } from '../decide/objectives.ts'
import { formatEffect } from '../decide/paired/effect-text.ts'
import { computeDifferences, hasLogarithms, collectMetricPairs } from '../decide/paired/metric-pairs.ts'
import { formatCount } from '../decide/wording.ts'
import type { Campaign, Landing } from '../model/campaign.ts'
import type { EventDraft } from '../model/event.ts'
import type { EventId } from '../model/ids.ts'
import { getProgressJobs } from '../model/fold-order.ts'
import { toPairRequest, EFFECT_JOBS, type Order, type StopRule } from '../model/order.ts'
import { type PairJob, buildPairJob, toMeasuredRun } from '../model/pairs.ts'
import type { Report } from '../model/report.ts'
import { resolveEvidence } from '../spec/resolve-evidence.ts'
import type { Spec } from '../spec/schema.ts'

/** What the report on an effect says: the same function serves the plan, replay and audit (invariant 3). */
export type EffectReading =
  | { is: 'measured'; draft: EventDraft<'effect-measured'>; revert: boolean }
  /** One of several jobs, by which nothing is reported. */
  | { is: 'more' }
  | { is: 'failed'; reason: string; retry: boolean }

interface EffectReport {
  order: Order
  report: Report
  event: EventId
}

type EffectState = Pick<Campaign, 'landings' | 'progressing' | 'harness'>

type ReadEffect = Pick<
  EventDraft<'effect-measured'>,
  'metric' | 'scale' | 'effect' | 'interval' | 'pairs'
> & {
  said: string
  differences: ReturnType<typeof computeDifferences>
}

export function readEffectReport(campaign: EffectState, spec: Spec, answer: EffectReport): EffectReading {
  const { order, report } = answer
  if (order.stop.rule !== 'pairs')
    return { is: 'failed', reason: `the rule ${order.stop.rule} shows no effect`, retry: false }
  const failure = findFailure({ spec, report, label: 'incumbent', pairs: true })
  if (failure !== null) return { is: 'failed', reason: failure.reason, retry: failure.retry }
  const job = buildPairJob(toPairRequest(order), toMeasuredRun(report), 'incumbent')
  if (!job.complete) {
    const reason = `the report has ${job.pairs.length} of ${formatCount(order.stop.pairs, 'pair')}`
    return { is: 'failed', reason, retry: true }
  }
  const jobs =
    order.purpose === 'progression'
      ? selectEffectJobs(campaign, order)
      : [...(order.carried['incumbent'] ?? []), job]
  if (jobs === null) return { is: 'more' }
  const measured = measureEffect(spec, order.stop, jobs)
  return typeof measured === 'string'
    ? { is: 'failed', reason: measured, retry: false }
    : draftEffect(campaign, spec, answer, { measured, jobs })
}

/**
 * The progression test is reported by its first job, so that people see a total after every round, and by all of them.
 * Their number is fixed, so that neither report is selected by what it shows.
 */
function selectEffectJobs(campaign: EffectState, { id, base, candidates }: Order): readonly PairJob[] | null {
  const [candidate] = candidates
  if (candidate === undefined) return null
  const jobs = getProgressJobs(campaign, { from: base, to: { commit: candidate.head, tree: candidate.tree } })
  const isReported = jobs.length === 1 || jobs.length === EFFECT_JOBS
  return isReported && jobs.at(-1)?.order === id ? jobs : null
}

/** Hodges-Lehmann and interval of all the pairs (decision.md 3.6), or why there are none. */
function measureEffect(
  spec: Spec,
  { scale }: Extract<StopRule, { rule: 'pairs' }>,
  jobs: readonly PairJob[],
): ReadEffect | string {
  const [primary] = listObjectives(spec.metric)
  const { name, direction } = primary
  const found = collectMetricPairs(jobs, name)
  if (scale === 'log' && !hasLogarithms(found))
    return `scale violated: ${name} was 0 or less, and is compared on a log scale since calibration`
  const differences = computeDifferences(found, { direction, scale })
  const { effect, interval, pairs } = computeReportedEffect(differences, getScoreTerms(spec.metric, primary))
  if (effect === null) return `${name} was not there on both sides`
  const said = `${formatEffect(effect, interval, { name, direction, scale })}, ${formatCount(pairs, 'pair')} in ${formatCount(jobs.length, 'job')}`
  return { metric: name, scale, effect, interval, pairs, said, differences }
}

function draftEffect(
  campaign: Pick<Campaign, 'landings'>,
  spec: Spec,
  { order, event }: EffectReport,
  { measured, jobs }: { measured: ReadEffect; jobs: readonly PairJob[] },
): EffectReading {
  const { metric, scale, effect, interval, pairs, said } = measured
  const [candidate] = order.candidates
  if (candidate === undefined) throw new TypeError('an effect is measured of something')
  const landing = order.purpose === 'progression' ? null : findMeasuredLanding(campaign, order)
  const common = {
    kind: 'effect-measured',
    cause: event,
    experiment: landing?.experiment ?? null,
    order: order.id,
    from: order.base,
    to: { commit: candidate.head, tree: candidate.tree },
    metric,
    scale,
    effect,
    interval,
    pairs,
  } as const
  if (order.purpose === 'progression') {
    const draft = { ...common, what: 'progression', state: null, reason: said } as const
    return { is: 'measured', draft, revert: false }
  }
  if (landing === null) return { is: 'failed', reason: 'what it measured was taken back', retry: false }
  if (order.purpose === 'effect') {
    const draft = { ...common, what: 'landing', state: null, reason: said } as const
    return { is: 'measured', draft, revert: false }
  }
  const { state, revert, why } = evaluateWatch(spec, measured, jobs)
  const draft = { ...common, what: 'watch', state, reason: `${why}: ${said}` } as const
  return { is: 'measured', draft, revert }
}

/** The landing that an order of the kind is about; null once it was taken back. */
export function findMeasuredLanding(
  { landings }: Pick<Campaign, 'landings'>,
  { purpose, base, candidates }: Pick<Order, 'purpose' | 'base' | 'candidates'>,
): Landing | null {
  const found = landings.find(
    landing =>
      landing.reverted === null &&
      landing.base.commit === base.commit &&
      (purpose === 'regression' || landing.commit === candidates[0]?.head),
  )
  return found ?? null
}

/** One e-process over all nights (decision.md 3.7). */
function evaluateWatch(
  spec: Spec,
  { differences, scale }: ReadEffect,
  jobs: readonly PairJob[],
): { state: 'open' | 'clear' | 'flagged'; revert: boolean; why: string } {
  const known = { singleMachine: false, scale, deterministic: false }
  const found = checkRegression(differences, resolveEvidence(spec, known).min_effect)
  switch (found) {
    case 'revert':
      return { state: 'flagged', revert: true, why: 'shown to be worse than the tree before it' }
    case 'clear':
      return { state: 'clear', revert: false, why: 'it holds' }
    case 'open':
      return jobs.length < EFFECT_JOBS
        ? { state: 'open', revert: false, why: 'not decided yet' }
        : { state: 'flagged', revert: false, why: 'not shown to hold' }
    default:
      return found satisfies never
  }
}
