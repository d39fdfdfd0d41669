import type { Aim } from './goal.ts'
import type { PrintedMetric } from './findings.ts'

type Quantity = 'seconds' | 'bytes' | 'share' | 'per second'

/** "under 200 ms": good enough, in numbers of a quantity; the unit is the metric's own once it is known. */
export interface GoalTarget {
  quantity: Quantity
  /** In seconds, bytes, percent or per second. */
  value: number
  /** The goal is below the value, not above. */
  below: boolean
  words: string
}

const BOUND =
  /\b(under|below|less than|at most|within|over|above|more than|at least)\s+(\d+(?:\.\d+)?)\s?([a-zµ%]*)/
const BELOW = new Set(['under', 'below', 'less than', 'at most', 'within'])

const UNITS: Readonly<Record<string, { quantity: Quantity; factor: number }>> = {
  ...buildUnits('seconds', { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, min: 60 }),
  ...buildUnits('seconds', { nanoseconds: 1e-9, microseconds: 1e-6, milliseconds: 1e-3, millisecond: 1e-3 }),
  ...buildUnits('seconds', { sec: 1, second: 1, seconds: 1, minute: 60, minutes: 60 }),
  ...buildUnits('bytes', { b: 1, byte: 1, bytes: 1, kb: 1e3, kib: 1024, mb: 1e6, mib: 2 ** 20, gb: 1e9 }),
  ...buildUnits('bytes', { gib: 2 ** 30, kilobytes: 1e3, megabytes: 1e6 }),
  ...buildUnits('share', { '%': 1, percent: 1 }),
  ...buildUnits('per second', { rps: 1, qps: 1, ops: 1, requests: 1 }),
}

function buildUnits(quantity: Quantity, factors: Readonly<Record<string, number>>) {
  return Object.fromEntries(Object.entries(factors).map(([unit, factor]) => [unit, { quantity, factor }]))
}

const QUANTITIES: Readonly<Record<string, Quantity>> = {
  wall_seconds: 'seconds',
  cpu_seconds: 'seconds',
  max_rss_mb: 'bytes',
  bytes: 'bytes',
  coverage: 'share',
  accuracy: 'share',
  throughput: 'per second',
}

/** Null where there is none, or where its unit is of something else than the aim. */
export function parseTarget(text: string, aim: Aim): GoalTarget | null {
  const [words, bound = '', number, unit = ''] = BOUND.exec(text) ?? []
  if (words === undefined || aim.kind !== 'hard') return null
  const wanted = QUANTITIES[aim.metric]
  const isBare = unit === '' && (wanted === 'share' || wanted === 'per second')
  const told = isBare && wanted !== undefined ? { quantity: wanted, factor: 1 } : UNITS[unit]
  const below = BELOW.has(bound)
  if (told?.quantity !== wanted || told === undefined || below !== (aim.direction === 'minimize')) return null
  return { quantity: told.quantity, value: roundToPrecision(Number(number) * told.factor), below, words }
}

const TIME_UNITS: readonly { pattern: RegExp; seconds: number }[] = [
  { pattern: /(?:^|_)(?:ns|nanos(?:econds?)?)(?:_|$)|Ns$|[nN]anos(?:econds)?$/, seconds: 1e-9 },
  { pattern: /(?:^|_)(?:us|micros(?:econds?)?)(?:_|$)|Us$|[mM]icros(?:econds)?$/, seconds: 1e-6 },
  { pattern: /(?:^|_)(?:ms|millis(?:econds?)?)(?:_|$)|Ms$|[mM]illis(?:econds)?$/, seconds: 1e-3 },
  { pattern: /(?:^|_)(?:s|secs?|seconds?)$|[a-z]Sec(?:onds|s)?$/, seconds: 1 },
]
const RATE = /(?:^|_)(?:ops|hz|rps|qps|requests|throughput|per_s(?:ec(?:ond)?)?)(?:_|$)|perSec|opsPer/i
const SIZE_UNITS: readonly { pattern: RegExp; bytes: number }[] = [
  { pattern: /(?:^|_)(?:bytes|size)(?:_|$)/i, bytes: 1 },
  { pattern: /(?:^|_)(?:kb|kilobytes)(?:_|$)/i, bytes: 1e3 },
  { pattern: /(?:^|_)(?:mb|megabytes)(?:_|$)/i, bytes: 1e6 },
]
const NO_TIME = /bytes|size|memory|rss|(?:^|_)[km]i?b(?:_|$)|coverage|accuracy|count|loss|items/i

/** Seconds that one unit of a metric of this name is; null where its name does not say that it is a time. */
function getSecondsPerUnit(metric: string): number | null {
  if (RATE.test(metric)) return null
  return TIME_UNITS.find(({ pattern }) => pattern.test(metric))?.seconds ?? null
}

/** A rate goes up where the code gets faster. */
export function isRate(metric: string): boolean {
  return RATE.test(metric)
}

/** Its name says that it is something else than how fast the code is. */
export function isNotSpeed(metric: string): boolean {
  return NO_TIME.test(metric) && getSecondsPerUnit(metric) === null && !isRate(metric)
}

/** The target in the unit of the metric that will be the primary; null where its unit is not known. */
export function convertTarget(
  { quantity, value, below }: GoalTarget,
  { name, direction }: PrintedMetric,
): number | null {
  if (below !== (direction === 'minimize')) return null
  switch (quantity) {
    case 'seconds': {
      const seconds = getSecondsPerUnit(name)
      return seconds === null ? null : roundToPrecision(value / seconds)
    }
    case 'bytes': {
      const bytes = SIZE_UNITS.find(({ pattern }) => pattern.test(name))?.bytes
      return bytes === undefined ? null : roundToPrecision(value / bytes)
    }
    case 'share':
      return value
    case 'per second':
      return isRate(name) ? value : null
    default:
      return quantity satisfies never
  }
}

function roundToPrecision(value: number): number {
  return Number(value.toPrecision(12))
}
