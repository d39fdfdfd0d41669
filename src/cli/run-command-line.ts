import { parseCommandLine } from './command-line.ts'
import { buildEnvironment, type ProcessStart } from './environment.ts'
import { printError } from './print-error.ts'
import { VERBS } from './registry.ts'
import type { Terminal } from './verb.ts'

const INTERRUPTED = 130
const INTERRUPTED_WRITE = 'Interrupted. Nothing is lost: winnow run continues from the last push.'
const INTERRUPTED_READ = 'Interrupted. The output is incomplete; no campaign was changed.'

/** Exits after this time without finishing the current write. The next run continues from the last push. */
const EXIT_TIMEOUT_MS = 1_800

const INSTALLED = { called: 'winnow', runtime: 'node' }

export async function runCommandLine(
  argv: readonly string[],
  started: ProcessStart,
  terminal: Terminal,
  interrupt: AbortSignal,
): Promise<number> {
  const verbose = argv.includes('--verbose')
  let writes = false
  try {
    const parsed = parseCommandLine(argv, VERBS, text => terminal.out(text.trimEnd()))
    if (parsed === null) return 0
    const { verb, given } = parsed
    writes = verb.access === 'write'
    const environment = buildEnvironment(started, given, terminal)
    const { program = INSTALLED } = started
    return await verb.run({ given, terminal, environment: environment, interrupt, verbs: VERBS, program })
  } catch (error) {
    // A child process that was interrupted too fails with an error that would only distract.
    if (!interrupt.aborted || verbose) return printError(error, terminal, verbose)
    terminal.err(writes ? INTERRUPTED_WRITE : INTERRUPTED_READ)
    return INTERRUPTED
  }
}

/** The first SIGINT or SIGTERM asks for an orderly exit within two seconds. The second exits at once. */
export function handleInterrupts(print: (line: string) => void): { signal: AbortSignal; release(): void } {
  const abort = new AbortController()
  const stop = () => {
    if (abort.signal.aborted) process.exit(130)
    print('Interrupted: finishing the current write. Press Ctrl-C again to exit at once.')
    abort.abort()
    setTimeout(() => {
      print('Exited before the current write was finished: winnow run continues from the last push.')
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
