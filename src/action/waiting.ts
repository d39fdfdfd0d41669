import { setTimeout } from 'node:timers/promises'

/** Ends early, and well, when the signal says so. */
export async function sleepUntilAborted(milliseconds: number, signal?: AbortSignal): Promise<void> {
  try {
    await setTimeout(milliseconds, undefined, signal === undefined ? {} : { signal })
  } catch (error) {
    if (signal?.aborted !== true) throw error
  }
}
