import type { FailedOutput } from './model/failed-output.ts'

/** What went wrong, in the terms of the person who can fix it. Exit codes are design section 9's. */

export type ErrorPlace = { file?: string; line?: number; column?: number; path?: string }

abstract class WinnowError extends Error {
  abstract readonly exitCode: number
}

/** Their spec, repository or arguments: what, where, how to fix. */
export class UserError extends WinnowError {
  override readonly name = 'UserError'
  readonly exitCode = 2
  readonly place: ErrorPlace
  readonly fix: string | undefined
  constructor(what: string, options: { place?: ErrorPlace; fix?: string; cause?: unknown } = {}) {
    super(what, options.cause === undefined ? undefined : { cause: options.cause })
    this.place = options.place ?? {}
    this.fix = options.fix
  }
}

/** The same mistake in the spec of a campaign that runs already: there `winnow amend` puts a changed spec in force. */
export function addAmendHint(error: UserError, specPath: string): UserError {
  const then = `change ${specPath}, then: winnow amend --reason "…" (the campaign keeps the spec that it was started with)`
  const fix = error.fix === undefined ? then : `${error.fix}: ${then}`
  return new UserError(error.message, { place: { ...error.place, file: specPath }, fix, cause: error })
}

/** Lost a race for a ref: nothing was written, look again and repeat. */
export class ConflictError extends WinnowError {
  override readonly name = 'ConflictError'
  readonly exitCode = 75
  readonly refs: readonly string[]
  constructor(what: string, refs: readonly string[]) {
    super(what)
    this.refs = refs
  }
}

/** The remote or forge refused: which rule or permission blocked, as it said it. */
export class ForgeError extends WinnowError {
  override readonly name = 'ForgeError'
  readonly exitCode = 69
  readonly detail: { status?: number; requestId?: string; rule?: string; output?: string }
  constructor(what: string, detail: ForgeError['detail'] = {}) {
    super(what)
    this.detail = detail
  }
}

/** The harness crashed, timed out or printed something that is not a result. */
export class HarnessError extends WinnowError {
  override readonly name = 'HarnessError'
  readonly exitCode = 13
  readonly detail: {
    line?: string
    example?: string
    /** The last lines that it printed. */
    output?: FailedOutput
    /** What was run. */
    command?: string
    fix?: string
    /** The names of the metrics it printed. */
    printed?: readonly string[]
  }
  constructor(what: string, detail: HarnessError['detail'] = {}) {
    super(what)
    this.detail = detail
  }
}

/** The ledger contradicts itself: never an empty default, always the first event that does not fit. */
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
