import {
  ConflictError,
  type ErrorPlace,
  ForgeError,
  getExitCode,
  HarnessError,
  LedgerError,
  UserError,
} from '../errors.ts'
import { renderFailedOutput } from '../report/verdict-markdown.ts'
import { SpecErrors } from '../spec/errors.ts'
import { parseCommandLine } from './command-line.ts'
import { buildEnvironment, type ProcessStart } from './environment.ts'
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
  // After `--` it belongs to the person's own command.
  const verbose = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined).includes('--verbose')
  let writes = false
  try {
    const parsed = parseCommandLine(argv, VERBS, text => terminal.out(text.trimEnd()))
    if (parsed === null) return 0
    const { verb, given } = parsed
    writes = verb.access === 'write'
    const environment = buildEnvironment(started, given, terminal)
    const { program = INSTALLED } = started
    return await verb.run({ given, terminal, environment, interrupt, verbs: VERBS, program })
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

const MAX_OUTPUT_LINES = 15

/** Prints the error and returns its exit code. Prints the stack only with --verbose. */
export function printError(error: unknown, { err }: Pick<Terminal, 'err'>, verbose: boolean): number {
  for (const line of renderError(error)) err(line)
  if (verbose && error instanceof Error) err(error.stack ?? '')
  return getExitCode(error)
}

function renderError(error: unknown): string[] {
  if (error instanceof SpecErrors) return renderSpecErrors(error)
  if (error instanceof UserError)
    return [`error: ${formatLocation(error.place)}${error.message}`, ...renderFix(error.fix)]
  if (error instanceof ConflictError) return renderConflictError(error)
  if (error instanceof ForgeError) return renderGithubError(error)
  if (error instanceof HarnessError) return renderHarnessError(error)
  if (error instanceof LedgerError) {
    return [
      `error: the ledger does not fit together: ${error.message}`,
      '  fix: winnow audit names everything that does not fit',
    ]
  }
  return [
    `error: internal: ${error instanceof Error ? error.message : String(error)}`,
    '  fix: this is a mistake in winnow; repeat with --verbose and report what it prints',
  ]
}

function renderSpecErrors({ problems, message, note }: SpecErrors): string[] {
  const count = problems.length === 1 ? 'a mistake' : `${problems.length} mistakes`
  return [
    `error: the spec has ${count}`,
    ...message.split('\n').map(line => `  ${line}`),
    ...(note === null ? [] : [`  note: ${note}`]),
  ]
}

function formatLocation({ file, line, column, path }: ErrorPlace): string {
  const where = [file, line, column].filter(part => part !== undefined).join(':')
  const parts = [where, path ?? ''].filter(part => part !== '')
  return parts.length === 0 ? '' : `${parts.join(' ')}: `
}

function renderConflictError({ message, refs }: ConflictError): string[] {
  const moved = refs.length === 0 ? [] : [`  moved by another process: ${refs.join(', ')}`]
  return [`error: ${message}`, ...moved, '  fix: nothing was written; try again']
}

function renderGithubError({ message, detail }: ForgeError): string[] {
  const { status, requestId, rule, output } = detail
  const facts = [
    ['status', status === undefined ? undefined : String(status)],
    ['request', requestId],
    ['rule', rule !== undefined && message.includes(rule) ? undefined : rule],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`  ${name}: ${value}`]))
  const words =
    output === undefined || message.includes(output) ? [] : renderQuotedOutput('the remote said', output)
  return [`error: ${message}`, ...facts, ...words]
}

function renderHarnessError({ message, detail }: HarnessError): string[] {
  const { line, example, output, command, fix, printed = [] } = detail
  return [
    `error: ${message}`,
    ...(line === undefined ? [] : [`  in: ${line}`]),
    ...(example === undefined ? [] : [`  valid: ${example}`]),
    ...(command === undefined ? [] : [`  ran: ${command}`]),
    ...(printed.length === 0 ? [] : renderQuotedOutput('it printed', printed.join('\n'))),
    ...renderFailedOutput(output, MAX_OUTPUT_LINES),
    ...renderFix(fix),
  ]
}

function renderFix(fix: string | undefined): string[] {
  return fix === undefined
    ? []
    : fix.split('\n').map((line, at) => `${at === 0 ? '  fix:' : '      '} ${line}`)
}

function renderQuotedOutput(title: string, text: string): string[] {
  const lines = text.trimEnd().split('\n')
  return [
    `  ${title}:`,
    ...(lines.length > MAX_OUTPUT_LINES ? ['    …'] : []),
    ...lines.slice(-MAX_OUTPUT_LINES).map(line => `    ${line}`),
  ]
}
