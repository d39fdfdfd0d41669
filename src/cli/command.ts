import type { Terminal } from '../verbs/call.ts'
import { VERBS } from '../verbs/registry.ts'
import { parseCommandLine } from '../verbs/parse.ts'
import { printError } from './print-error.ts'
import { type ProcessStart, buildEnvironment } from './surroundings.ts'

const INTERRUPTED = 130
const WHOLE = 'The campaign is whole as of its last push: winnow run goes on from there.'
const UNTOUCHED = 'Stopped before its end: what it printed is so, and no campaign was touched.'
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
    const around = buildEnvironment(started, given, terminal)
    const { program = INSTALLED } = started
    return await verb.run({ given, terminal, around, interrupt, verbs: VERBS, program })
  } catch (error) {
    // A child that was interrupted with us fails in its own words, which would only distract.
    if (!interrupt.aborted || verbose) return printError(error, terminal, verbose)
    terminal.err(writes ? WHOLE : UNTOUCHED)
    return INTERRUPTED
  }
}
