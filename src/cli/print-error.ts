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
import type { Terminal } from './verb.ts'

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
    ['rule', rule],
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
