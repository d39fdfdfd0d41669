import { type AbsentMetric, listObjectives } from '../decide/metrics.ts'
import {
  formatCount,
  formatMetricChange,
  formatNoise,
  formatNumber,
  formatRounded,
  formatSize,
} from '../decide/wording.ts'
import type { Calibration } from '../model/campaign.ts'
import { getOwnValue } from '../model/own-value.ts'
import { type Aggregation, getAggregation, type MetricValue, type MetricValues } from '../model/report.ts'
import { findNearestWord } from '../spec/nearest-word.ts'
import { BUILT_IN_METRICS, COUNTED_METRICS } from '../spec/schema-values.ts'
import type { Spec } from '../spec/schema.ts'
import { formatTable, limitLines } from './terminal.ts'

// Values

export type ReadonlyMetrics = Readonly<MetricValues>

/** Selects and orders the metrics to show. */
export interface ShownMetrics {
  /** The primary first, then the other objectives. */
  objectives: readonly string[]
  aggregation: Aggregation
}

const NO_SPEC: ShownMetrics = { objectives: [], aggregation: 'median' }

export function selectShownMetrics(spec: Pick<Spec, 'metric' | 'measurement'> | null): ShownMetrics {
  if (spec === null) return NO_SPEC
  return {
    objectives: listObjectives(spec.metric).map(({ name }) => name),
    aggregation: getAggregation(spec),
  }
}

const MAX_PER_LINE = 6

/**
 * Puts the primary first. A line that would be too long has only the objectives and a count of the rest. Metrics
 * that winnow measures itself appear only as objectives, or if there are no others.
 */
export function formatMetrics(
  metrics: ReadonlyMetrics,
  { objectives }: Pick<ShownMetrics, 'objectives'>,
): string {
  return joinMetricCells(selectMetricCells(metrics, objectives), objectives)
}

/** Example: "bytes 50 -> 40 (-20.0 %), zeros 0 -> 0". */
export function formatChanges(
  base: ReadonlyMetrics,
  candidate: ReadonlyMetrics,
  { objectives }: Pick<ShownMetrics, 'objectives'>,
): string {
  const cells = selectMetricCells(candidate, objectives).map(([name, text]): [string, string] => {
    const [before = null, after = null] = [base, candidate].map(values => getOwnValue(values, name))
    if (typeof before === 'number' && typeof after === 'number')
      return [name, formatMetricChange(name, before, after).slice(name.length + 1)]
    return [name, before === null ? text : `${formatMetricValue(before)} -> ${text}`]
  })
  return joinMetricCells(cells, objectives)
}

function joinMetricCells(cells: readonly [string, string][], objectives: readonly string[]): string {
  const judged = cells.filter(([name]) => objectives.includes(name))
  const few = cells.length <= MAX_PER_LINE || judged.length === 0 ? cells : judged.slice(0, MAX_PER_LINE)
  const more = cells.length - few.length
  return [...few.map(cell => cell.join(' ')), ...(more === 0 ? [] : [`${more} more`])].join(', ')
}

/** Prints a count, and one line per metric to choose from, if one line would be too long. */
export function renderMetrics(metrics: ReadonlyMetrics): [string, ...string[]] {
  const cells = selectMetricCells(metrics, [])
  if (cells.length === 0) return ['no metric']
  if (cells.length <= MAX_PER_LINE) return [formatMetrics(metrics, NO_SPEC)]
  return [
    formatCount(cells.length, 'metric'),
    ...limitLines(formatTable(cells.map(([name, value]) => [`  ${name}`, value]))),
  ]
}

function selectMetricCells(metrics: ReadonlyMetrics, objectives: readonly string[]): [string, string][] {
  const names = Object.keys(metrics)
  const first = objectives.filter(name => names.includes(name))
  const others = names.filter(name => !first.includes(name))
  const printed = others.filter(name => !BUILT_IN_METRICS.has(name))
  const chosen = first.length + printed.length > 0 ? [...first, ...printed] : others
  return chosen.map(name => [name, formatMetricValue(metrics[name] ?? null)])
}

/** Booleans stay as the harness printed them. */
export function formatMetricValue(value: MetricValue): string {
  if (value === null) return 'missing'
  return typeof value === 'number' ? formatNumber(value) : String(value)
}

// Missing metrics

export function findMissingMetrics(
  needed: readonly string[],
  printed: readonly string[],
): { fix: string; printed: string[] } | null {
  const missing = needed.filter(name => !printed.includes(name))
  if (missing.length === 0) return null
  const advice = missing.map(name => {
    const suggestion = printed.find(each => each.startsWith(`${name}.`)) ?? findNearestWord(name, printed)
    return `${name} is not printed${suggestion === undefined ? '.' : `: did you mean ${suggestion}?`}`
  })
  const fix = `${advice.join(' ')} Name one of the printed metrics, or print it.`
  return { fix: printed.length === 0 ? `print ${missing.join(', ')}` : fix, printed: limitLines(printed) }
}

export function describeAbsentMetric({ name, key, printed }: AbsentMetric, names: readonly string[]): string {
  if (printed) return `${name} (${key}) is printed, but not as a finite number: NaN, infinite or null`
  const suggestion = findNearestWord(name, names)
  const there =
    names.length === 0 ? 'no metric is' : `printed ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}`
  return `${name} (${key}) is not printed; ${there}${suggestion === undefined ? '' : `: did you mean ${suggestion}?`}`
}

// Noise

export const SINGLE_MACHINE_LIMIT =
  'new builds replaced fresh runners, so effects specific to this machine are not averaged out'

export function describeCalibrationNoise(
  calibration: Pick<Calibration, 'noise' | 'scale'> | null,
): string | null {
  if (calibration === null || calibration.noise === null) return null
  const { pair_sd, pairs, jobs } = calibration.noise
  const spread = calibration.scale === 'log' ? `${(pair_sd * 100).toFixed(1)} %` : formatNumber(pair_sd)
  return `Noise: the base differs from itself by ${spread} (${formatCount(pairs, 'pair')} in ${formatCount(jobs, 'job')})`
}

/**
 * Null where the primary is as good as any other metric of the same pairs.
 * Example: "cpu_seconds is quieter: pairs differ by 1.6 % instead of 14.7 %; smallest visible gain 2.2 % instead of 11.8 %".
 */
export function describeQuieterMetric(
  calibration: Pick<Calibration, 'noise' | 'quieter'> | null,
): string | null {
  if (calibration?.quieter === undefined || calibration.noise === null) return null
  const { metric, pair_sd, visible_gain, primary_visible_gain } = calibration.quieter
  const share = (value: number | null) => (value === null ? 'none' : formatShare(value))
  return `${metric} is quieter: pairs differ by ${share(pair_sd)} instead of ${share(calibration.noise.pair_sd)}; smallest visible gain ${share(visible_gain)} instead of ${share(primary_visible_gain)}${metric === 'cpu_seconds' ? '; it counts no waiting' : ''}`
}

/** One decimal, and two digits where that would show nothing. */
function formatShare(value: number): string {
  return value < 0.001 ? `${formatRounded(value * 100, 2)} %` : formatSize(value, 'log')
}

/** A count is not what a user waits for. */
export function describeProxy({ metric }: Pick<Spec, 'metric'>): string | null {
  const { name } = metric.primary
  if (!COUNTED_METRICS.has(name)) return null
  const stands = name === 'instructions' ? 'time' : 'the cost of memory'
  return `proxy: ${name} stand for ${stands}; child processes are counted, and an interpreter with the program that it runs`
}

/** The line of the spec that makes a campaign compare this metric, in the direction of the present one. */
export function renderPrimaryLine(name: string, { metric }: Pick<Spec, 'metric'>): string {
  return `metric: { primary: { name: ${name}, direction: ${metric.primary.direction} } }`
}

/** For "not proven" in a campaign: null where no metric of the calibration is quieter. */
export function suggestQuieterMetric(
  calibration: Pick<Calibration, 'noise' | 'quieter'> | null,
  spec: Pick<Spec, 'metric'>,
): string | null {
  const quieter = describeQuieterMetric(calibration)
  if (quieter === null || calibration?.quieter === undefined) return null
  return `${quieter}. To compare it, write ${renderPrimaryLine(calibration.quieter.metric, spec)} in the spec.`
}

/** Returns null for a deterministic campaign, and before calibration. */
export function describeNoisyCalibration({ scale, noise }: Calibration): string | null {
  return noise === null ? null : `noisy, ${formatNoise({ scale, noise })}, ${scale} scale, fair to both sides`
}

/** For the event log: adds the reason why the metric does not count as deterministic. */
export function describeCalibrationResult(
  found: Pick<Calibration, 'deterministic' | 'scale' | 'noise' | 'reason'>,
): string {
  const { deterministic, scale, noise, reason } = found
  if (noise === null) return `${deterministic ? 'deterministic' : 'noisy'}, ${reason}`
  return `noisy, ${reason}, ${scale} scale, fair to both sides`
}
