import { ConflictError, ForgeError, UserError } from '../errors.ts'
import type { PushResult } from '../git/push-result.ts'

/** Time and chance are values: tests retry for two minutes in no time. */
export interface Pacing {
  /** Milliseconds since 1970. */
  clock: () => number
  sleep: (milliseconds: number) => Promise<void>
  /** In [0, 1). */
  random: () => number
}

export type Attempt<T> =
  | { done: true; value: T }
  /** `waitMs`: whoever refused asked for no other attempt before. */
  | { done: false; why: string; waitMs?: number }

/** How long attempts are made, and how far apart. */
export interface Patience {
  forMs: number
  firstWaitMs: number
  longestWaitMs: number
}

const FOR_RACES: Patience = { forMs: 120_000, firstWaitMs: 50, longestWaitMs: 5_000 }

/** The one retry: every attempt looks at the world anew, and after each lost race waits longer, by chance. */
export async function retryLostRaces<T>(
  pacing: Pacing,
  attempt: () => Promise<Attempt<T>>,
  patience: Patience = FOR_RACES,
): Promise<Attempt<T>> {
  const deadline = pacing.clock() + patience.forMs
  for (let lost = 0; ; lost++) {
    const result = await unlessTransient(attempt)
    if (result.done) return result
    const wait = Math.max(backOff(patience, lost, pacing.random()), result.waitMs ?? 0)
    if (pacing.clock() + wait > deadline) return result
    await pacing.sleep(wait)
  }
}

/** Between half and all of a doubling limit: writers that lost together do not meet again. */
function backOff({ firstWaitMs, longestWaitMs }: Patience, lost: number, chance: number): number {
  const limit = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(lost, 16))
  return (limit * (1 + chance)) / 2
}

async function unlessTransient<T>(attempt: () => Promise<Attempt<T>>): Promise<Attempt<T>> {
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof ConflictError || (error instanceof ForgeError && isTransient(error))) {
      return { done: false, why: error.message }
    }
    throw error
  }
}

/**
 * git's own words about a connection, or a server that is busy: not a rule, and not a file of ours. It may
 * have broken after the write, so every attempt must recognise what it wrote itself.
 */
function isTransient({ detail }: ForgeError): boolean {
  if (detail.rule !== undefined) return false
  // A limit is no race: who asks again before its time makes it last.
  if (detail.status !== undefined) return detail.status >= 500
  return detail.output !== undefined
}

export function pushAttempt<T>(result: PushResult, value: T): Attempt<T> {
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
    case 'atomic-refused':
      throw new ForgeError(`the remote refused the push: ${result.message}`, {
        rule: result.rule ?? result.message,
      })
    default:
      return result satisfies never
  }
}
