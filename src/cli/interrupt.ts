/** Work that is not finished by then is left as a kill would leave it; the next run goes on from there. */
const LONGEST_MS = 1_800

/** The first Ctrl-C or TERM asks for an orderly end within two seconds, the second does not wait for it. */
export function handleInterrupts(tell: (line: string) => void): { signal: AbortSignal; release(): void } {
  const abort = new AbortController()
  const stop = () => {
    if (abort.signal.aborted) process.exit(130)
    tell('Interrupted: finishing the current write. Again to end at once.')
    abort.abort()
    setTimeout(() => {
      tell('Ended before the current write was finished: winnow run goes on from the last push.')
      process.exit(130)
    }, LONGEST_MS).unref()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return {
    signal: abort.signal,
    release() {
      process.off('SIGINT', stop)
      process.off('SIGTERM', stop)
    },
  }
}
