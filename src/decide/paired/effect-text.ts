import { getOwnValue } from '../../model/own-value.ts'
import type { Interval } from '../evidence/interval.ts'
import type { EvidenceScale, MetricDirection } from '../evidence/rank-test.ts'
import { formatNumber } from '../wording.ts'

export interface MeasuredMetric {
  name: string
  direction: MetricDirection
  scale: EvidenceScale
}

const EFFECT_WORDS: Readonly<Record<string, readonly [better: string, worse: string]>> = {
  wall_seconds: ['faster', 'slower'],
  cpu_seconds: ['less CPU', 'more CPU'],
  max_rss_mb: ['less memory', 'more memory'],
}

/** A built-in metric as the subject of a sentence. */
const METRIC_NOUNS: Readonly<Record<string, string>> = {
  wall_seconds: 'run time',
  cpu_seconds: 'CPU time',
  max_rss_mb: 'memory',
}

/** "cpu_seconds 18.9 % less CPU" as "18.9 % less CPU". */
export function removeMetricName(text: string, name: string): string {
  const noun = getOwnValue(METRIC_NOUNS, name)
  if (noun === undefined || !text.startsWith(`${name} `)) return text
  const rest = text.slice(name.length + 1)
  return /^(?:probably |about )?-?\d[\d.]*(?: %|x)? (?:faster|slower|less|more)\b/.test(rest)
    ? rest
    : `${noun} ${rest}`
}

/** A difference of logarithms as the share by which the value itself changes. */
export function toShare(effect: number, direction: MetricDirection): number {
  return direction === 'minimize' ? -Math.expm1(-effect) : Math.expm1(effect)
}

/** "14.2", "21": how many times as much, with one decimal while it is significant. */
function formatFactor(effect: number): string {
  const factor = Math.exp(Math.abs(effect))
  return factor < 20 ? factor.toFixed(1) : String(Math.round(factor))
}

const LN_FIVEFOLD = Math.log(5)

/** A value that grows many times over reads as a factor: "14.2x slower", not "1042.6 % slower". */
function isReadAsFactor(
  effect: number,
  interval: Interval | null,
  { direction, scale }: MeasuredMetric,
): boolean {
  if (scale === 'linear') return false
  const growing = (by: number) => (direction === 'minimize' ? -by : by)
  const ends = interval === null ? [] : interval.map(growing)
  return growing(effect) >= Math.LN2 || ends.some(end => end >= LN_FIVEFOLD)
}

function formatAmount(effect: number, { direction, scale }: MeasuredMetric): string {
  if (scale === 'linear') return formatNumber(effect)
  const text = (toShare(effect, direction) * 100).toFixed(1)
  return Number(text) === 0 ? text.replace('-', '') : text
}

/** Parts of a sentence about an effect: "4.1", "faster", and the ends of the interval. */
interface EffectWords {
  size: string
  word: string
  range: readonly [low: string, high: string] | null
  unit: '' | ' %' | 'x'
}

export function describeEffect(
  effect: number,
  interval: Interval | null,
  measured: MeasuredMetric,
): EffectWords {
  const { name, direction, scale } = measured
  const losing = effect < 0
  const plain = direction === 'minimize' ? (['lower', 'higher'] as const) : (['higher', 'lower'] as const)
  const [better, worse] = getOwnValue(EFFECT_WORDS, name) ?? plain
  const word = losing ? worse : better
  if (isReadAsFactor(effect, interval, measured)) {
    const range = interval === null ? null : formatFactorRange(interval, losing)
    return { size: formatFactor(effect), word, range, unit: 'x' }
  }
  return {
    size: losing ? formatNegated(effect, measured) : formatAmount(effect, measured),
    word,
    range: interval === null ? null : formatRange(interval, losing, measured),
    unit: scale === 'log' ? ' %' : '',
  }
}

/** "wall_seconds 3.1 % faster (0.9 to 5.2 %)": the estimate, and its interval. */
export function formatEffect(
  effect: number,
  interval: Interval | null,
  measured: MeasuredMetric,
  { probably = false, upper = null }: { probably?: boolean; upper?: number | null } = {},
): string {
  const { size, word, range, unit } = describeEffect(effect, interval, measured)
  const bound = upper === null ? '' : ` (${formatUpperBound(upper, measured)})`
  const between = range === null ? bound : ` (${range[0]} to ${range[1]}${unit})`
  return `${measured.name} ${probably ? 'probably ' : ''}${size}${unit} ${word}${between}`
}

/** "at most 0.4 % faster", "at least 3.1x slower": an interval whose other end is still open. */
export function formatUpperBound(upper: number, measured: MeasuredMetric): string {
  const { size, word, unit } = describeEffect(upper, null, measured)
  return `at ${upper < 0 ? 'least' : 'most'} ${size}${unit} ${word}`
}

/** From the smaller to the larger change; a change of the other direction is a factor below 1. */
function formatFactorRange([low, high]: Interval, losing: boolean): [string, string] {
  const [from, to] = losing ? [-high, -low] : [low, high]
  const times = (by: number) => (by < 0 ? Math.exp(by).toFixed(2) : formatFactor(by))
  return [times(from), times(to)]
}

function formatRange([low, high]: Interval, losing: boolean, measured: MeasuredMetric): [string, string] {
  return losing
    ? [formatNegated(high, measured), formatNegated(low, measured)]
    : [formatAmount(low, measured), formatAmount(high, measured)]
}

/** A loss as a positive number: `describeEffect` adds the word for it. */
function formatNegated(effect: number, measured: MeasuredMetric): string {
  const text = formatAmount(effect, measured)
  if (Number(text) === 0) return text.replace('-', '')
  return text.startsWith('-') ? text.slice(1) : `-${text}`
}

const BAR_EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const
const FULL_CELL = '█'
const EMPTY_CELL = '·'

/**
 * Evidence as a bar on a log scale: empty at 1, where it proves nothing, full at the threshold. Never full
 * before the threshold is reached.
 */
export function renderEvidenceBar(evidence: number, threshold: number, width: number): string {
  const most = width * BAR_EIGHTHS.length
  const share = Math.min(1, Math.max(0, Math.log(evidence) / Math.log(threshold)))
  const filled = evidence >= threshold ? most : Math.min(Math.floor(share * most), most - 1)
  const partial = BAR_EIGHTHS[filled % BAR_EIGHTHS.length] ?? ''
  const cells = FULL_CELL.repeat(Math.floor(filled / BAR_EIGHTHS.length)) + partial
  return cells.padEnd(width, EMPTY_CELL)
}
