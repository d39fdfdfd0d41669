/** Long enough for one wake-up; a process that goes on for hours begins anew with each of them. */
const WHILE_MS = 5 * 60_000

/** So much of something in one wake-up. */
export interface RateBudget {
  /** Whether there was some left. */
  take(): boolean
}

export function createRateBudget(most: number, now: () => number): RateBudget {
  const current = cacheForRun(now, () => ({ left: most }))
  return {
    take() {
      const state = current()
      if (state.left === 0) return false
      state.left -= 1
      return true
    },
  }
}

/** What is remembered for one wake-up, and forgotten after it. */
export function cacheForRun<T>(now: () => number, make: () => T): () => T {
  let made: { value: T; until: number } | null = null
  return () => {
    const at = now()
    if (made === null || at >= made.until) made = { value: make(), until: at + WHILE_MS }
    return made.value
  }
}
