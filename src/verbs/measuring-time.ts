/** A limit on the time in which something is measured: waiting for other processes or for an answer is not counted. */
export interface MeasuringTime {
  /** Aborts when the time is used up; never where there is no limit. */
  signal: AbortSignal
  begins: () => void
  /** Whether it was counting. */
  ends: () => boolean
  /** Seconds that were counted so far. */
  seconds: () => number
}

/** `now`: milliseconds that only go forward. */
export function createMeasuringTime(minutes: number | null, now: () => number): MeasuringTime {
  const over = new AbortController()
  let left = minutes === null ? Number.POSITIVE_INFINITY : minutes * 60_000
  let since: number | null = null
  let spent = 0
  let timer: NodeJS.Timeout | undefined
  return {
    signal: over.signal,
    begins() {
      if (since !== null || over.signal.aborted) return
      since = now()
      if (left < LONGEST_TIMER_MS) timer = setTimeout(() => over.abort(), Math.max(0, left)).unref()
    },
    ends() {
      if (since === null) return false
      clearTimeout(timer)
      const counted = now() - since
      left -= counted
      spent += counted
      since = null
      return true
    },
    seconds: () => (spent + (since === null ? 0 : now() - since)) / 1000,
  }
}

/** Node takes a longer one for one of a millisecond. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
