import { buildEnvironment, type ProcessStart } from './environment.ts'
import { parseCommandLine } from './parse.ts'
import { printError } from './print-error.ts'
import { VERBS } from './registry.ts'
import type { Terminal } from './verb.ts'

const INTERRUPTED = 130
const INTERRUPTED_WRITE = 'The campaign is whole as of its last push: winnow run goes on from there.'
const INTERRUPTED_READ = 'Stopped before its end: what it printed is so, and no campaign was touched.'
const INSTALLED = { called: 'winnow', runtime: 'node' }

/** One command from its arguments to its exit code; what a process adds is left to `main`. */
export async function runCommandLine(
  argv: readonly string[],
  started: ProcessStart,
  terminal: Terminal,
  interrupt: AbortSignal,
): Promise<number> {
  const verbose = argv.includes('--verbose')
  let writes = false
  try {
    const { verb, given } = parseCommandLine(argv, VERBS)
    writes = verb.access === 'write'
    const environment = buildEnvironment(started, given, terminal)
    const { program = INSTALLED } = started
    return await verb.run({ given, terminal, around: environment, interrupt, verbs: VERBS, program })
  } catch (error) {
    // A child that was interrupted with us fails in its own words, which would only distract.
    if (!interrupt.aborted || verbose) return printError(error, terminal, verbose)
    terminal.err(writes ? INTERRUPTED_WRITE : INTERRUPTED_READ)
    return INTERRUPTED
  }
}

/** Work that is not finished by then is left as a kill would leave it; the next run goes on from there. */
const EXIT_TIMEOUT_MS = 1_800

/** The first Ctrl-C or TERM asks for an orderly end within two seconds, the second does not wait for it. */
export function handleInterrupts(print: (line: string) => void): { signal: AbortSignal; release(): void } {
  const abort = new AbortController()
  const stop = () => {
    if (abort.signal.aborted) process.exit(130)
    print('Interrupted: finishing the current write. Again to end at once.')
    abort.abort()
    setTimeout(() => {
      print('Ended before the current write was finished: winnow run goes on from the last push.')
      process.exit(130)
    }, EXIT_TIMEOUT_MS).unref()
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
