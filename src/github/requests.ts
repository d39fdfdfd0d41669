import type { z } from 'zod'
import { ForgeError } from '../errors.ts'
import { type Pacing, retryLostRaces } from '../ledger/retry.ts'

/** Returns null where GitHub answers with one of these statuses. */
export async function toNullIfStatus<T>(
  statuses: readonly number[],
  ask: () => Promise<T>,
): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ForgeError && statuses.includes(error.detail.status ?? 0)) return null
    throw error
  }
}

/** GitHub may briefly answer 404 for an object that exists. Accepts the second 404. */
export async function requestUnlessMissing<T>(ask: () => Promise<T>): Promise<T | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ForgeError) || error.detail.status !== 404) throw error
      if (attempt === 2) return null
    }
  }
}

/** A truncated answer arrives as text and is treated like a missing one. */
export function parseAnswer<T>(schema: z.ZodType<T>, answer: unknown, what: string): T {
  const parsed = schema.safeParse(answer)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const why = issue ? `${issue.path.join('.')}: ${issue.message}` : 'it is empty'
  throw new ForgeError(`GitHub's answer about ${what} cannot be understood (${why})`, { output: why })
}

// Retries and limits

/** The failed request may have taken effect, so every attempt checks before it repeats a write. */
export async function withRetries<T>(pacing: Pacing, work: (attempt: number) => Promise<T>): Promise<T> {
  let attempts = 0
  let failure: unknown
  const result = await retryLostRaces(pacing, async () => {
    try {
      return { done: true, value: await work(attempts++) }
    } catch (error) {
      failure = error
      throw error
    }
  })
  if (result.done) return result.value
  throw failure instanceof ForgeError ? failure : new ForgeError(result.why)
}

/** Long enough for one tick. A process that runs for hours starts a new period after it. */
const RUN_CACHE_MS = 5 * 60_000

export interface RateBudget {
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

export function cacheForRun<T>(now: () => number, make: () => T): () => T {
  let made: { value: T; until: number } | null = null
  return () => {
    const at = now()
    if (made === null || at >= made.until) made = { value: make(), until: at + RUN_CACHE_MS }
    return made.value
  }
}
