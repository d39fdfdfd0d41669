import { getOwnValue } from '../model/own-value.ts'
import type { PairJob } from '../model/pairs.ts'
import { type Report, toFinite } from '../model/report.ts'
import { isPairedByTask } from '../model/tasks.ts'
import { BUILT_IN_METRICS } from '../spec/schema-values.ts'
import type { Spec } from '../spec/schema.ts'
import { isJudgedMetric } from '../spec/spec-facts.ts'
import { calibrateNoiseEvidence, type NoiseCalibration } from './evidence/calibration.ts'
import { listDecisiveMetrics, listExecutions } from './metrics.ts'
import { collectMetricPairs } from './paired/evaluate.ts'

/** A metric of the same pairs of the base with itself that differs less between them than the primary. */
export interface QuieterReading {
  metric: string
  pair_sd: number
}

/** Printed names beyond these are not stored with the pairs of a calibration. */
const MAX_STAND_INS = 8

/** Of the numbers that winnow measures itself, memory says nothing about time. */
const STAND_IN_TIMES = ['cpu_seconds', 'wall_seconds']

/** Lists the numbers that every execution has and that no verdict reads, as far as they could replace the primary. */
export function listStandIns(spec: Spec, report: Pick<Report, 'executions'>): string[] {
  const { name, direction } = spec.metric.primary
  if (isJudgedMetric(spec) || isPairedByTask(spec) || name === 'max_rss_mb') return []
  const runs = ['base', 'base-copy'].flatMap(side => listExecutions(report, side, 'sample'))
  const numbers = [...new Set(runs.flatMap(({ metrics }) => Object.keys(metrics)))].filter(each =>
    runs.every(({ metrics }) => toFinite(metrics[each]) !== null),
  )
  const decisive = new Set(listDecisiveMetrics(spec))
  const times = direction === 'minimize' ? STAND_IN_TIMES.filter(each => numbers.includes(each)) : []
  const printed = numbers.filter(each => !BUILT_IN_METRICS.has(each))
  return [...times, ...printed].filter(each => !decisive.has(each)).slice(0, MAX_STAND_INS)
}

/** A smaller difference in noise is not worth another metric. */
const QUIETER_BY = 0.7

/** Compares shares, so values of 0 or less, which have none, are left out. */
export function findQuieterReading(
  spec: Spec,
  jobs: readonly PairJob[],
  primary: { scale: 'log' | 'linear'; pair_sd: number },
): QuieterReading | null {
  if (primary.scale !== 'log') return null
  const names = new Set(jobs.flatMap(({ pairs }) => pairs.flatMap(({ base }) => Object.keys(base ?? {}))))
  names.delete(spec.metric.primary.name)
  const found = [...names].flatMap(metric => {
    if (!canReplacePrimary(spec, jobs, metric)) return []
    const noise = calibrateMetric(jobs, metric)
    if (noise === null || noise.favours !== null) return []
    const { pair_sd } = noise
    return pair_sd > 0 && pair_sd <= QUIETER_BY * primary.pair_sd ? [{ metric, pair_sd }] : []
  })
  return found.toSorted((a, b) => a.pair_sd - b.pair_sd)[0] ?? null
}

/** A calibration that was repeated had its doubts; the last two jobs have cleared them. */
const LAST_JOBS = 2

/** Null if the last jobs do not have the metric: then earlier ones say nothing. */
function calibrateMetric(jobs: readonly PairJob[], metric: string): NoiseCalibration | null {
  const last = jobs.slice(-LAST_JOBS).map(job => ({
    pairs: collectMetricPairs([job], metric).flatMap(({ base, candidate, base_first }) =>
      base === null || candidate === null ? [] : [{ base, candidate, base_first }],
    ),
  }))
  const isMeasured = last.some(({ pairs }) => pairs.length > 0)
  return isMeasured ? calibrateNoiseEvidence(last, { scale: 'log' }) : null
}

const MIN_VALUES = 16

/**
 * The same direction, and positively related in the measured executions. A checksum and a count are not: they do not
 * vary with time. Nor is the whole time of a benchmark that repeats until a given time has passed.
 */
function canReplacePrimary(spec: Spec, jobs: readonly PairJob[], metric: string): boolean {
  if (!STAND_IN_TIMES.includes(metric) && BUILT_IN_METRICS.has(metric)) return false
  const direction = findDirection(spec, metric)
  if (direction !== null && direction !== spec.metric.primary.direction) return false
  const points = collectPoints(jobs, spec.metric.primary.name, metric)
  if (points.length < MIN_VALUES || points.some(([, other]) => other <= 0)) return false
  if (spec.metric.primary.name === 'wall_seconds' && metric === 'cpu_seconds') return isComputing(points)
  const certainty = direction === null ? UNKNOWN_DIRECTION_Z : KNOWN_DIRECTION_Z
  return computeRankCorrelation(points) * Math.sqrt(points.length - 1) >= certainty
}

/** One-sided standard scores, at 5 % and at .5 %: of many printed numbers one is related by chance. */
const KNOWN_DIRECTION_Z = 1.645
const UNKNOWN_DIRECTION_Z = 2.576

/** Null for a printed number that the spec does not name. */
function findDirection({ metric, policy }: Spec, name: string): 'minimize' | 'maximize' | null {
  if (BUILT_IN_METRICS.has(name)) return 'minimize'
  const objective = metric.objectives.find(each => each.name === name)
  if (objective !== undefined) return objective.direction
  for (const tie of policy.tie_breakers) {
    if ('lower' in tie && tie.lower === name) return 'minimize'
    if ('higher' in tie && tie.higher === name) return 'maximize'
  }
  return null
}

type ValuePoint = readonly [primary: number, other: number]

function collectPoints(jobs: readonly PairJob[], primary: string, metric: string): ValuePoint[] {
  const sides = jobs.flatMap(({ pairs }) => pairs.flatMap(({ base, candidate }) => [base, candidate]))
  return sides.flatMap((side): ValuePoint[] => {
    const before = getOwnValue(side, primary) ?? null
    const other = getOwnValue(side, metric) ?? null
    return before === null || other === null ? [] : [[before, other]]
  })
}

/** A command waits for a busy machine, too, so the run with the largest share tells. */
const LEAST_COMPUTING = 0.1

/** Processor time does not show that a command waits less, so it replaces the time of no command that only waits. */
function isComputing(points: readonly ValuePoint[]): boolean {
  return Math.max(...points.map(([wall, cpu]) => cpu / wall)) >= LEAST_COMPUTING
}

/** Spearman's; 0 where one of the two does not vary. */
function computeRankCorrelation(points: readonly ValuePoint[]): number {
  const [first, second] = [rankValues(points.map(([x]) => x)), rankValues(points.map(([, y]) => y))]
  const middle = (points.length + 1) / 2
  const multiply = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, rank, index) => sum + (rank - middle) * ((b[index] ?? middle) - middle), 0)
  const spread = Math.sqrt(multiply(first, first) * multiply(second, second))
  return spread === 0 ? 0 : multiply(first, second) / spread
}

/** From 1; equal values share the mean of their ranks. */
function rankValues(values: readonly number[]): number[] {
  return values.map(value => {
    const below = values.filter(other => other < value).length
    const equal = values.filter(other => other === value).length
    return below + (equal + 1) / 2
  })
}
