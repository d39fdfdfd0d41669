import type { Direction, Scale } from '../evidence/difference.ts'
import type { Interval } from '../evidence/confidence-interval.ts'
import { numberText } from '../wording.ts'

/** What an effect is an effect on: enough to say it in words. */
export interface Measured {
  name: string
  direction: Direction
  scale: Scale
}

const WORDS: Readonly<Record<string, readonly [better: string, worse: string]>> = {
  wall_seconds: ['faster', 'slower'],
  cpu_seconds: ['less CPU', 'more CPU'],
  max_rss_mb: ['less memory', 'more memory'],
}

/** A built-in metric as the subject of a sentence. */
const NOUNS: Readonly<Record<string, string>> = {
  wall_seconds: 'run time',
  cpu_seconds: 'CPU time',
  max_rss_mb: 'memory',
}

/** "cpu_seconds 18.9 % less CPU" as "18.9 % less CPU": for readers who do not know the names of the metrics. */
export function withoutMetricName(text: string, name: string): string {
  const noun = NOUNS[name]
  if (noun === undefined || !text.startsWith(`${name} `)) return text
  const rest = text.slice(name.length + 1)
  return /^(?:probably |about )?-?\d[\d.]*(?: %|x)? (?:faster|slower|less|more)\b/.test(rest)
    ? rest
    : `${noun} ${rest}`
}

/** A difference of logarithms as the share by which the value itself changes. */
export function shareOf(effect: number, direction: Direction): number {
  return direction === 'minimize' ? -Math.expm1(-effect) : Math.expm1(effect)
}

/** "14.2", "21": how many times as much, one decimal as long as it says something. */
function factorText(effect: number): string {
  const factor = Math.exp(Math.abs(effect))
  return factor < 20 ? factor.toFixed(1) : String(Math.round(factor))
}

const DOUBLE = Math.LN2
const FIVEFOLD = Math.log(5)

/** A value that grows many times over reads as a factor: "14.2x slower", not "1042.6 % slower". */
function readsAsFactor(effect: number, interval: Interval | null, { direction, scale }: Measured): boolean {
  if (scale === 'linear') return false
  const growing = (by: number) => (direction === 'minimize' ? -by : by)
  const ends = interval === null ? [] : interval.map(growing)
  return growing(effect) >= DOUBLE || ends.some(end => end >= FIVEFOLD)
}

function amount(effect: number, { direction, scale }: Measured): string {
  if (scale === 'linear') return numberText(effect)
  const said = (shareOf(effect, direction) * 100).toFixed(1)
  return Number(said) === 0 ? said.replace('-', '') : said
}

/** An effect in words, to be put into a sentence: "4.1 %", "faster", and where the truth lies. */
export interface EffectWords {
  size: string
  word: string
  range: readonly [low: string, high: string] | null
  unit: '' | ' %' | 'x'
}

export function effectWords(effect: number, interval: Interval | null, measured: Measured): EffectWords {
  const { name, direction, scale } = measured
  const losing = effect < 0
  const plain = direction === 'minimize' ? (['lower', 'higher'] as const) : (['higher', 'lower'] as const)
  const [better, worse] = WORDS[name] ?? plain
  if (readsAsFactor(effect, interval, measured))
    return {
      size: factorText(effect),
      word: losing ? worse : better,
      range: interval === null ? null : factorRange(interval, losing),
      unit: 'x',
    }
  return {
    size: losing ? turned(effect, measured) : amount(effect, measured),
    word: losing ? worse : better,
    range: interval === null ? null : rangeOf(interval, losing, measured),
    unit: scale === 'log' ? ' %' : '',
  }
}

/** "wall_seconds 3.1 % faster (0.9 to 5.2 %)": the estimate, and where the truth lies. */
export function effectText(
  effect: number,
  interval: Interval | null,
  measured: Measured,
  { probably = false, upper = null }: { probably?: boolean; upper?: number | null } = {},
): string {
  const { size, word, range, unit } = effectWords(effect, interval, measured)
  const bound = upper === null ? '' : ` (${upperText(upper, measured)})`
  const between = range === null ? bound : ` (${range[0]} to ${range[1]}${unit})`
  return `${measured.name} ${probably ? 'probably ' : ''}${size}${unit} ${word}${between}`
}

/** Renders the closed end of an interval whose other end is still open: "at most 0.4 % faster", "at least 3.1x slower". */
export function upperText(upper: number, measured: Measured): string {
  const { size, word, unit } = effectWords(upper, null, measured)
  return `at ${upper < 0 ? 'least' : 'most'} ${size}${unit} ${word}`
}

/** From the smaller to the larger change; a change of the other direction is a factor below 1. */
function factorRange([low, high]: Interval, losing: boolean): [string, string] {
  const [from, to] = losing ? [-high, -low] : [low, high]
  const times = (by: number) => (by < 0 ? Math.exp(by).toFixed(2) : factorText(by))
  return [times(from), times(to)]
}

/** A loss said as a loss: the same share, with the other word. */
function turned(effect: number, measured: Measured): string {
  const said = amount(effect, measured)
  return said.startsWith('-') ? said.slice(1) : said
}

function rangeOf([low, high]: Interval, losing: boolean, measured: Measured): [string, string] {
  if (!losing) return [amount(low, measured), amount(high, measured)]
  const negated = (value: number) => {
    const said = amount(value, measured)
    if (Number(said) === 0) return said.replace('-', '')
    return said.startsWith('-') ? said.slice(1) : `-${said}`
  }
  return [negated(high), negated(low)]
}
