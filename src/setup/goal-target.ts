import type { Aim } from './goal.ts'

export interface GoalTarget {
  value: number
  words: string
}

const BOUND =
  /\b(?:under|below|less than|at most|within|over|above|more than|at least)\s+(\d+(?:\.\d+)?)\s?([a-z%]*)/

/** In the metric's own unit. */
const UNITS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  wall_seconds: { s: 1, sec: 1, second: 1, seconds: 1, ms: 0.001, milliseconds: 0.001, minutes: 60, min: 60 },
  cpu_seconds: { s: 1, sec: 1, second: 1, seconds: 1, ms: 0.001, milliseconds: 0.001, minutes: 60, min: 60 },
  max_rss_mb: { mb: 1, mib: 1, kb: 0.001, gb: 1000, gib: 1024 },
  bytes: { b: 1, bytes: 1, kb: 1000, kib: 1024, mb: 1_000_000, mib: 1_048_576 },
  coverage: { '%': 1, percent: 1, '': 1 },
  accuracy: { '%': 1, percent: 1, '': 1 },
  throughput: { '': 1 },
}

/** "under 200 ms": good enough, in numbers. Null where there is none, or its unit is of something else. */
export function targetIn(text: string, aim: Aim): GoalTarget | null {
  const [words, value, unit = ''] = BOUND.exec(text) ?? []
  if (words === undefined || aim.kind !== 'hard') return null
  const factor = UNITS[aim.metric]?.[unit]
  return factor === undefined ? null : { value: Number((Number(value) * factor).toPrecision(12)), words }
}
