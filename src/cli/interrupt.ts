/** The first Ctrl-C asks for an orderly end, the second does not wait for it. */
export function interruption(tell: (line: string) => void): { signal: AbortSignal; release(): void } {
  const abort = new AbortController()
  const stop = () => {
    if (abort.signal.aborted) process.exit(130)
    tell('Interrupted: finishing the current write. Again to end at once.')
    abort.abort()
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
