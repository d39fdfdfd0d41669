import { ForgeError } from '../../errors.ts'
import { type Pacing, retryLostRaces } from '../../ledger/retry.ts'

/**
 * Repeats what a broken connection or a busy server cut off. It may have been done for all that: every attempt
 * looks before it does anything a second time.
 */
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
