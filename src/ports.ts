// The engine's access to the outside world, passed in as values or narrow functions.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds on a clock that never jumps. */
  monotonic(): number
  /** Resolves early when the signal aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

export interface RandomSource {
  hex(bytes: number): string
  /** In [0, 1). */
  fraction(): number
}

/** Test hook that may kill the process. It has no effect elsewhere. */
export interface Faults {
  reach(point: string): void
}

/** Saves events that the ledger did not accept in a file, and returns a description of its place. */
export type SaveUnwrittenEvents = (name: string, text: string) => Promise<string>

export type Fetch = (url: string, options: RequestInit) => Promise<Response>

/** Reports progress to people. Results go to the caller as values. */
export interface ProgressReporter {
  say(line: string): void
}

/** One version of a package, as a changed file names it. */
export interface Release {
  ecosystem: string
  name: string
  version: string
  source: string
  /** The expected hash in the ecosystem's own format; null when the file does not state it. */
  integrity: string | null
  /** The hashes of its files, of which any may be installed; null: only `integrity` is known. */
  files: readonly string[] | null
}

/**
 * The time of publication, and how the release was identified: by the hash of its files, by name and version, or as
 * the youngest in a version range.
 */
export interface ReleaseDate {
  at: string
  by: 'hash' | 'name' | 'range'
}

export interface Registries {
  /** Null: the registry gave no answer; undefined: no registry can be asked. */
  publishedAt: (release: Release) => Promise<ReleaseDate | null | undefined>
}

/** One question to a model, without a conversation before it. */
export interface ModelQuestion {
  /** The provider's model id. */
  model: string
  /** The system prompt. */
  system: string
  /** The user prompt. It asks for a single JSON object. */
  user: string
  maxTokens: number
}

export type ModelAnswer =
  /** complete: the model ended the answer itself; it was not cut off. */
  | { is: 'answered'; text: string; complete: boolean }
  /** The key or the model is wrong, so a retry is useless. */
  | { is: 'refused'; reason: string }
  /** The model rejected this question: for its content, for its length, or as any question. */
  | { is: 'not-taken'; reason: string }
  /** All retries failed. */
  | { is: 'unreachable'; reason: string }
  /** The question was not sent, because the money is spent. */
  | { is: 'over-budget'; reason: string }

export interface ModelUsage {
  /** Requests that cost money, or may have. */
  requests: number
  /** Requests with unknown cost. Each counts with its highest possible cost. */
  unanswered: number
  tokens: number
  /** Null when the price is unknown. */
  usd: number | null
}

export interface Models {
  ask(question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer>
  usage(): ModelUsage
}
