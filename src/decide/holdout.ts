import type { HoldoutRule } from '../model/order.ts'
import type { Execution, Report, Side } from '../model/report.ts'
import { runnerErrorText } from '../model/runner-error.ts'
import { BENCHMARK_COUNT } from '../spec/benchmark-formats.ts'
import type { Spec } from '../spec/schema.ts'
import type { Direction, Scale } from './evidence/difference.ts'
import { hodgesLehmann } from './evidence/hodges-lehmann.ts'
import { harmShown } from './evidence/verdict.ts'
import { signedDelta } from './objectives.ts'
import { differencesOf, hasLogarithms, type MetricPair, typicalBase } from './paired/metric-pairs.ts'
import { executionsOf, readingOf } from './readings.ts'

/** All that anybody but a maintainer may learn of it: passed or not. */
export type HoldoutVerdict =
  | { is: 'passed' }
  | { is: 'failed' }
  | { is: 'refused'; reason: string }
  /** Nobody's verdict: the runner, a set-up or the base failed. */
  | { is: 'again'; reason: string }

export interface HoldoutCase {
  spec: Pick<Spec, 'metric'>
  stop: HoldoutRule
  report: Report
  label: Side
}

type Executions = Pick<Report, 'executions'>
interface Block {
  base: Execution
  candidate: Execution
}

/** The verdict on what would land, by its pairs on the holdout: harm is not shown, and no more is lost than the margin. */
export function holdoutVerdict(judged: HoldoutCase): HoldoutVerdict {
  const fault = faultOf(judged)
  if (fault !== null) return fault
  const { report, label, stop } = judged
  if (failures(report, 'base') >= 2) return again('the holdout does not run on the base')
  if (failures(report, label) >= 2) return { is: 'failed' }
  const pairs = blocksOf(report, label).map(block => pairOf(block, stop))
  if (!isComplete(stop, pairs)) return again('its report ends too early')
  if (pairs.every(({ base }) => base === null))
    return again(`the holdout's command prints no ${stop.metrics[0]} for the base`)
  return { is: holds(judged, pairs) ? 'passed' : 'failed' }
}

/** Asked after every pair in the job. */
export function holdoutWantsMore(stop: HoldoutRule, soFar: Executions, label: Side): boolean {
  return !isComplete(
    stop,
    blocksOf(soFar, label).map(block => pairOf(block, stop)),
  )
}

function again(reason: string): HoldoutVerdict {
  return { is: 'again', reason }
}

function faultOf({ report, label }: HoldoutCase): HoldoutVerdict | null {
  const { tampered, runner_error, setups } = report
  if (tampered?.during === label)
    return { is: 'refused', reason: `tampered: its execution changed ${tampered.path}` }
  if (tampered !== null) return again(`${tampered.during} changed ${tampered.path} while it ran`)
  if (runner_error !== null) return again(runnerErrorText(runner_error))
  const failed = setups.find(({ ok }) => !ok)
  return failed === undefined ? null : again(`the set-up of ${failed.side} failed`)
}

function blocksOf(report: Executions, label: Side): Block[] {
  const candidates = executionsOf(report, label, 'holdout')
  return executionsOf(report, 'base', 'holdout').flatMap((base, at) => {
    const candidate = candidates[at]
    return candidate === undefined ? [] : [{ base, candidate }]
  })
}

/** Warm-ups too: the runner starts nothing of a side any more once two of its executions failed. */
function failures(report: Executions, side: Side): number {
  return executionsOf(report, side).filter(({ status }) => status !== 'ok').length
}

/** A candidate that ran another number of benchmarks has lost the pair, whatever the mean over them is. */
function pairOf({ base, candidate }: Block, { metrics: [metric = ''] }: HoldoutRule): MetricPair {
  const counted = [base, candidate].map(run => readingOf(run, BENCHMARK_COUNT))
  const same = metric === BENCHMARK_COUNT || counted[0] === counted[1]
  return { base: readingOf(base, metric), candidate: same ? readingOf(candidate, metric) : null }
}

function isComplete(stop: HoldoutRule, pairs: readonly MetricPair[]): boolean {
  return pairs.length >= stop.pairs || (stop.exact && pairs.length >= 2 && equalPair(pairs) !== null)
}

/** The one pair that all of them are, where both sides print the same number every time. */
function equalPair(pairs: readonly MetricPair[]): { base: number; candidate: number } | null {
  const [first] = pairs
  if (first === undefined || first.base === null || first.candidate === null) return null
  const { base, candidate } = first
  return pairs.every(pair => pair.base === base && pair.candidate === candidate) ? { base, candidate } : null
}

/** A number that repeats is compared as it is; one that varies by what its pairs show (decision.md 3.2). */
function holds({ spec, stop }: HoldoutCase, pairs: readonly MetricPair[]): boolean {
  const { direction } = spec.metric.primary
  const equal = equalPair(pairs)
  if (equal !== null) {
    const allowed = stop.scale === 'log' ? stop.margin * Math.abs(equal.base) : stop.margin
    return signedDelta(equal.base, equal.candidate, direction) >= -allowed
  }
  const scale = stop.scale === 'log' && hasLogarithms(pairs) ? 'log' : 'linear'
  const differences = differencesOf(pairs, { direction, scale })
  if (harmShown(differences)) return false
  return hodgesLehmann(differences) >= -allowedLoss(stop, pairs, { direction, scale })
}

/** The margin on the scale that the pairs are compared on. */
function allowedLoss(
  { scale: pinned, margin }: HoldoutRule,
  pairs: readonly MetricPair[],
  { direction, scale }: { direction: Direction; scale: Scale },
): number {
  if (pinned === 'linear') return margin
  if (scale === 'linear') return margin * typicalBase(pairs)
  return direction === 'minimize' ? Math.log1p(margin) : -Math.log1p(-Math.min(margin, 0.999))
}
