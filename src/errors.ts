import type { FailedOutput } from './model/report.ts'

// Error types for the person who can fix the problem. docs/commands.md lists the exit codes.

export type ErrorPlace = { file?: string; line?: number; column?: number; path?: string }

export abstract class WinnowError extends Error {
  abstract readonly exitCode: number
}

/** A mistake in the user's spec, repository or arguments: the cause, the place and the fix. */
export class UserError extends WinnowError {
  override readonly name = 'UserError'
  readonly exitCode = 2
  readonly place: ErrorPlace
  readonly fix: string | undefined
  constructor(what: string, options: { place?: ErrorPlace; fix?: string | undefined; cause?: unknown } = {}) {
    super(what, options.cause === undefined ? undefined : { cause: options.cause })
    this.place = options.place ?? {}
    this.fix = options.fix
  }
}

/** For a mistake in the spec of a campaign that already runs: there only `winnow amend` applies a changed spec. */
export function addAmendHint(error: UserError, specPath: string): UserError {
  const then = `change ${specPath}, then run winnow amend -m "…" (the campaign keeps the spec that it was started with)`
  const fix = error.fix === undefined ? then : `${error.fix}: ${then}`
  return new UserError(error.message, { place: { ...error.place, file: specPath }, fix, cause: error })
}

/** A lost race for a ref. No change was written; read the state again and retry. */
export class ConflictError extends WinnowError {
  override readonly name = 'ConflictError'
  readonly exitCode = 75
  readonly refs: readonly string[]
  constructor(what: string, refs: readonly string[]) {
    super(what)
    this.refs = refs
  }
}

/** The remote or GitHub refused. `detail` has the rule or permission in the server's words. */
export class ForgeError extends WinnowError {
  override readonly name = 'ForgeError'
  readonly exitCode = 69
  readonly detail: { status?: number; requestId?: string; rule?: string; output?: string }
  constructor(what: string, detail: ForgeError['detail'] = {}) {
    super(what)
    this.detail = detail
  }
}

/**
 * Returns true when the forge refuses one request for good, so that the others can continue. An unknown token,
 * a rate limit and a busy server concern every request and return false.
 */
export function isRefusal(error: unknown): error is ForgeError {
  if (!(error instanceof ForgeError)) return false
  const { status = 0, output = '' } = error.detail
  return status >= 400 && status < 500 && !GENERAL_STATUSES.has(status) && !/rate limit/i.test(output)
}

const GENERAL_STATUSES: ReadonlySet<number> = new Set([401, 407, 408, 429])

/** The harness crashed, timed out or printed an invalid result. */
export class HarnessError extends WinnowError {
  override readonly name = 'HarnessError'
  readonly exitCode = 13
  readonly detail: {
    line?: string | undefined
    example?: string | undefined
    /** The last lines of its output. */
    output?: FailedOutput
    command?: string
    fix?: string
    printed?: readonly string[]
  }
  constructor(what: string, detail: HarnessError['detail'] = {}) {
    super(what)
    this.detail = detail
  }
}

/**
 * The ledger contradicts itself. winnow reports the first event that does not fit and never falls back to a default.
 */
export class LedgerError extends WinnowError {
  override readonly name = 'LedgerError'
  readonly exitCode = 70
  readonly seq: number | undefined
  constructor(what: string, seq?: number) {
    super(what)
    this.seq = seq
  }
}

export function getExitCode(error: unknown): number {
  return error instanceof WinnowError ? error.exitCode : 70
}
