import { ConflictError, ForgeError, UserError } from '../errors.ts'
import type { PushResult } from '../git/push.ts'

/** Time and randomness as parameters, so that tests do not wait. */
export interface Pacing {
  /** Milliseconds on a clock that never jumps. */
  monotonic: () => number
  sleep: (milliseconds: number) => Promise<void>
  /** In [0, 1). */
  random: () => number
}

export type Attempt<T> =
  | { done: true; value: T }
  /** `waitMs`: required by the server. `refused`: by a rule of the remote, which may be permanent. */
  | { done: false; why: string; waitMs?: number; refused?: ForgeError }

export interface RetryLimits {
  forMs: number
  firstWaitMs: number
  longestWaitMs: number
}

const RACE_LIMITS: RetryLimits = { forMs: 120_000, firstWaitMs: 50, longestWaitMs: 5_000 }
/** A full disk or a slow hook may pass: four more attempts, 1 to 8 seconds apart. */
const REFUSAL_LIMITS = { firstWaitMs: 1_000, longestWaitMs: 8_000 }
const MAX_REFUSALS = 5

/** Every attempt must read the current state again. Returns the last one when none succeeds in time. */
export async function retryLostRaces<T>(
  pacing: Pacing,
  attempt: () => Promise<Attempt<T>>,
  limits: RetryLimits = RACE_LIMITS,
): Promise<Attempt<T>> {
  const deadline = pacing.monotonic() + limits.forMs
  for (let lost = 0, refused = 0; ; ) {
    const result = await retryTransientErrors(attempt)
    if (result.done) return result
    const isRefused = result.refused !== undefined
    if (isRefused && refused === MAX_REFUSALS - 1) return result
    const longer = isRefused
      ? computeBackOff(REFUSAL_LIMITS, refused++, pacing.random())
      : computeBackOff(limits, lost++, pacing.random())
    const wait = Math.max(longer, result.waitMs ?? 0)
    if (pacing.monotonic() + wait > deadline) return result
    await pacing.sleep(wait)
  }
}

/** Returns between half and all of a doubling limit, so that writers that collided once do not collide again. */
function computeBackOff(
  { firstWaitMs, longestWaitMs }: Omit<RetryLimits, 'forMs'>,
  lost: number,
  chance: number,
): number {
  const limit = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(lost, 16))
  return (limit * (1 + chance)) / 2
}

async function retryTransientErrors<T>(attempt: () => Promise<Attempt<T>>): Promise<Attempt<T>> {
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof ConflictError || (error instanceof ForgeError && isTransient(error))) {
      return { done: false, why: error.message }
    }
    throw error
  }
}

/** The write may have succeeded before the failure: attempts recognize their own result. */
function isTransient({ detail }: ForgeError): boolean {
  if (detail.rule !== undefined) return false
  // A rate limit is not a race: an early retry only extends it.
  if (detail.status !== undefined) return detail.status >= 500
  return detail.output !== undefined
}

export function toPushAttempt<T>(result: PushResult, value: T): Attempt<T> {
  if (result.ok) return { done: true, value }
  switch (result.reason) {
    case 'lease':
      return { done: false, why: `${result.refs.join(', ')} moved first` }
    case 'checked-out':
      throw new UserError(`${result.ref} is checked out in ${result.worktree}`, {
        place: { path: result.worktree },
        fix: 'switch that worktree to another branch',
      })
    case 'refused':
    case 'atomic-refused': {
      const { message, rule = message } = result
      return {
        done: false,
        why: message,
        refused: new ForgeError(`the remote refused the push: ${message}`, { rule }),
      }
    }
    default:
      return result satisfies never
  }
}
