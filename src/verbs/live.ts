import type { Call } from './call.ts'

const AGAIN_MS = 250

/**
 * While the work goes on, a person at a terminal sees what it says of itself, anew as it changes; null shows
 * nothing. Elsewhere nothing is shown, and nothing is different.
 */
export async function showLive<T>(
  { terminal, around: { clock } }: Pick<Call, 'terminal' | 'around'>,
  text: (elapsedSeconds: number) => string | null,
  work: () => Promise<T>,
): Promise<T> {
  const begun = clock.monotonic()
  const over = new AbortController()
  const showing = async () => {
    while (!over.signal.aborted) {
      terminal.live(text((clock.monotonic() - begun) / 1_000))
      await clock.sleep(AGAIN_MS, over.signal)
    }
  }
  const working = Promise.resolve()
    .then(work)
    .finally(() => over.abort())
  const [shown, done] = await Promise.allSettled([showing(), working])
  terminal.live(null)
  if (done.status === 'rejected') throw done.reason
  if (shown.status === 'rejected') throw shown.reason
  return done.value
}
