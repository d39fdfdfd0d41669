import type { HoldoutRule } from '../model/order.ts'
import { type Execution, formatRunnerError, type Report, type Side } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { BENCHMARK_COUNT } from '../spec/schema-values.ts'
import { computeReportedEffect } from './evidence/interval.ts'
import type { EvidenceScale, MetricDirection } from './evidence/rank-test.ts'
import { isHarmShown } from './evidence/rules.ts'
import {
  computeSignedDelta,
  getScoreTerms,
  listExecutions,
  listObjectives,
  readNumber,
  type ReportExecutions,
} from './metrics.ts'
import {
  computeDifferences,
  computeTypicalBase,
  type MetricPair,
  selectScale,
  toLogMargin,
} from './paired/evaluate.ts'

/** Only a maintainer may learn more of the holdout than passed or not. */
type HoldoutVerdict =
  | { is: 'passed' }
  | { is: 'failed' }
  | { is: 'refused'; reason: string }
  /** No verdict: the runner, a set-up or the base failed. */
  | { is: 'retry'; reason: string }

interface HoldoutCase {
  spec: Pick<Spec, 'evidence' | 'measurement' | 'metric'>
  stop: HoldoutRule
  report: Report
  label: Side
}

/** A change about to land passes if harm is not shown, and it loses no more than the margin. */
export function judgeHoldout(judged: HoldoutCase): HoldoutVerdict {
  const fault = findHoldoutFault(judged)
  if (fault !== null) return fault
  const { report, label, stop } = judged
  if (countFailures(report, 'base') >= 2) return createHoldoutRetry('the holdout does not run on the base')
  if (countFailures(report, label) >= 2) return { is: 'failed' }
  const pairs = listHoldoutPairs(stop, report, label)
  if (!isHoldoutComplete(stop, pairs)) return createHoldoutRetry('its report ends too early')
  const lost = pairs.filter(({ base, candidate }) => base !== null && candidate === null)
  if (report.judging !== undefined && lost.length >= 2) return { is: 'failed' }
  if (pairs.every(({ base }) => base === null))
    return createHoldoutRetry(`the holdout's command prints no ${stop.metrics[0]} for the base`)
  return { is: isHoldoutPassed(judged, pairs) ? 'passed' : 'failed' }
}

export function isHoldoutPairNeeded(stop: HoldoutRule, soFar: ReportExecutions, label: Side): boolean {
  return !isHoldoutComplete(stop, listHoldoutPairs(stop, soFar, label))
}

function createHoldoutRetry(reason: string): HoldoutVerdict {
  return { is: 'retry', reason }
}

function findHoldoutFault({ report, label }: HoldoutCase): HoldoutVerdict | null {
  const { tampered, runner_error, setups } = report
  if (tampered?.during === label)
    return { is: 'refused', reason: `tampered: its execution changed ${tampered.path}` }
  if (tampered !== null) return createHoldoutRetry(`${tampered.during} changed ${tampered.path} while it ran`)
  if (runner_error !== null) return createHoldoutRetry(formatRunnerError(runner_error))
  const failed = setups.find(({ ok }) => !ok)
  return failed === undefined ? null : createHoldoutRetry(`the set-up of ${failed.side} failed`)
}

function listHoldoutPairs(stop: HoldoutRule, report: ReportExecutions, label: Side): MetricPair[] {
  const candidates = listExecutions(report, label, 'holdout')
  return listExecutions(report, 'base', 'holdout').flatMap((base, at) => {
    const candidate = candidates[at]
    return candidate === undefined ? [] : [toHoldoutPair(base, candidate, stop)]
  })
}

/** Counts warm-ups too: the runner starts no execution of a side after two of them failed. */
function countFailures(report: Pick<Report, 'executions' | 'judging'>, side: Side): number {
  // An item without a score says nothing about the command.
  const isItem = ({ status }: Execution) => report.judging !== undefined && status === 'score-failed'
  return listExecutions(report, side).filter(each => each.status !== 'ok' && !isItem(each)).length
}

/** A candidate that ran another number of benchmarks has lost the pair, even if their mean is better. */
function toHoldoutPair(
  base: Execution,
  candidate: Execution,
  { metrics: [metric = ''] }: HoldoutRule,
): MetricPair {
  const counted = [base, candidate].map(run => readNumber(run, BENCHMARK_COUNT))
  const same = metric === BENCHMARK_COUNT || counted[0] === counted[1]
  return { base: readNumber(base, metric), candidate: same ? readNumber(candidate, metric) : null }
}

function isHoldoutComplete(stop: HoldoutRule, pairs: readonly MetricPair[]): boolean {
  return pairs.length >= stop.pairs || (stop.exact && pairs.length >= 2 && findEqualPair(pairs) !== null)
}

/** Returns the one pair that all of them equal, where both sides print a constant number. */
function findEqualPair(pairs: readonly MetricPair[]): { base: number; candidate: number } | null {
  const [first] = pairs
  if (first === undefined || first.base === null || first.candidate === null) return null
  const { base, candidate } = first
  return pairs.every(pair => pair.base === base && pair.candidate === candidate) ? { base, candidate } : null
}

/** A number that repeats is compared as it is; one that varies by its pairs. */
function isHoldoutPassed({ spec, stop }: HoldoutCase, pairs: readonly MetricPair[]): boolean {
  const { direction } = spec.metric.primary
  const equal = findEqualPair(pairs)
  if (equal !== null) {
    const allowed = stop.scale === 'log' ? stop.margin * Math.abs(equal.base) : stop.margin
    return computeSignedDelta(equal.base, equal.candidate, direction) >= -allowed
  }
  const scale = selectScale(stop, pairs)
  const differences = computeDifferences(pairs, { direction, scale })
  if (isHarmShown(differences)) return false
  const [primary] = listObjectives(spec.metric)
  const { effect } = computeReportedEffect(differences, getScoreTerms(spec, primary))
  return effect !== null && effect >= -computeAllowedLoss(stop, pairs, { direction, scale })
}

function computeAllowedLoss(
  { scale: pinned, margin }: HoldoutRule,
  pairs: readonly MetricPair[],
  { direction, scale }: { direction: MetricDirection; scale: EvidenceScale },
): number {
  if (pinned === 'linear') return margin
  if (scale === 'linear') return margin * computeTypicalBase(pairs)
  return toLogMargin(margin, direction)
}
