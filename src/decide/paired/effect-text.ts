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

/** A difference of logarithms as the share by which the value itself changes. */
export function shareOf(effect: number, direction: Direction): number {
  return direction === 'minimize' ? -Math.expm1(-effect) : Math.expm1(effect)
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
  unit: '' | ' %'
}

export function effectWords(effect: number, interval: Interval | null, measured: Measured): EffectWords {
  const { name, direction, scale } = measured
  const losing = effect < 0
  const plain = direction === 'minimize' ? (['lower', 'higher'] as const) : (['higher', 'lower'] as const)
  const [better, worse] = WORDS[name] ?? plain
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
  { probably = false }: { probably?: boolean } = {},
): string {
  const { size, word, range, unit } = effectWords(effect, interval, measured)
  const between = range === null ? '' : ` (${range[0]} to ${range[1]}${unit})`
  return `${measured.name} ${probably ? 'probably ' : ''}${size}${unit} ${word}${between}`
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
