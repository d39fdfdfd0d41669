import { setTimeout as delay } from 'node:timers/promises'
import type { Launch } from './launch.ts'

/** Between TERM and KILL (spec.md: `timeout_seconds`). */
const GRACE_SECONDS = 5
/** The same after an interrupt, when no result is needed: an interrupted winnow has two seconds to end. */
const CANCELLED_GRACE_SECONDS = 0.5
const GIVING_UP_SECONDS = 15

/** Ways to end a whole tree, from polite to certain. */
export interface TreeTerminator {
  term(): void | Promise<void>
  kill(): void | Promise<void>
  /** When even the supervisor does not answer. */
  destroy(): void
}

/** Ends what runs too long (TERM, 5 s, KILL) or was cancelled (TERM, half a second, KILL). Returns whether the time ran out. */
export async function withDeadline<T>(
  running: Promise<T>,
  ending: TreeTerminator,
  limits: Pick<Launch, 'timeoutSeconds' | 'graceSeconds' | 'signal'>,
): Promise<{ value: T; timedOut: boolean }> {
  const grace = (limits.graceSeconds ?? GRACE_SECONDS) * 1000
  const over = new AbortController()
  const state = { timedOut: false }
  const escalate = async () => {
    const cancelled = await sleepOrCancel(limits.timeoutSeconds, limits.signal, over.signal)
    state.timedOut = !cancelled
    await ending.term()
    await delay(cancelled ? Math.min(grace, CANCELLED_GRACE_SECONDS * 1000) : grace, undefined, {
      signal: over.signal,
    })
    await ending.kill()
    await delay(GIVING_UP_SECONDS * 1000, undefined, { signal: over.signal })
    ending.destroy()
  }
  const watch = escalate().catch((error: unknown) => {
    if (!over.signal.aborted) throw error
  })
  try {
    const value = await running
    return { value, timedOut: state.timedOut }
  } finally {
    over.abort()
    await watch
  }
}

/** True when it was cancelled, false when the time ran out; rejects when the process ended first. */
async function sleepOrCancel(seconds: number, cancel: AbortSignal, over: AbortSignal): Promise<boolean> {
  if (cancel.aborted) return true
  try {
    await delay(Math.min(seconds * 1000, 2 ** 31 - 1), undefined, { signal: AbortSignal.any([cancel, over]) })
    return false
  } catch (error) {
    if (over.aborted || !cancel.aborted) throw error
    return true
  }
}
