/** What the engine takes from the outside as values or narrow functions, so that nothing inside looks around. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds on a clock that never jumps. */
  monotonic(): number
  /** Ends early, and well, when the signal says so. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

export interface RandomSource {
  hex(bytes: number): string
  /** In [0, 1). */
  fraction(): number
}

/** Tests end the process here; everywhere else it does nothing. */
export interface Faults {
  reach(point: string): void
}

/**
 * Puts a file where a person finds it whose work could not be written into the ledger; answers in words where that is.
 */
export type SaveUnwrittenEvents = (name: string, text: string) => Promise<string>

/** How the web is asked: as `fetch` does. */
export type Fetch = (url: string, options: RequestInit) => Promise<Response>

/** Where progress is told to people; results go to the caller as values. */
export interface ProgressReporter {
  say(line: string): void
}

/** One version of a package, as a file of a change names it. */
export interface Release {
  ecosystem: string
  name: string
  version: string
  source: string
  /** What the file says that is installed has to be, in its own form; null: it does not say. */
  integrity: string | null
  /** The hash of each file where it may be one of several; null: the integrity is all there is. */
  files: readonly string[] | null
}

/**
 * When a release was published, and how surely: by the hash of its files, by its name and version alone, or as the
 * youngest of all versions that a range may come to.
 */
export interface ReleaseDate {
  at: string
  by: 'hash' | 'name' | 'range'
}

/** Where packages come from. */
export interface Registries {
  /** When this was published. null: its registry was asked in vain; undefined: no registry can be asked. */
  publishedAt: (release: Release) => Promise<ReleaseDate | null | undefined>
}

/** One question to a model, with nothing that was said before. */
export interface ModelQuestion {
  /** As its maker calls it. */
  model: string
  /** What it is to do. */
  system: string
  /** What it is to do it with; the answer is to be one JSON object. */
  user: string
  /** The answer is cut off after so many. */
  maxTokens: number
}

export type ModelAnswer =
  /** complete: it ended by itself, and was not cut off. */
  | { is: 'answered'; text: string; complete: boolean }
  /** The key or the model is wrong: asking again is no use. */
  | { is: 'refused'; reason: string }
  /** This one is not taken: for what stands in it, for its length; or none is. */
  | { is: 'not-taken'; reason: string }
  /** It was asked as often as patience allows. */
  | { is: 'unreachable'; reason: string }
  /** Nothing was asked: the money is spent. */
  | { is: 'over-budget'; reason: string }

/** What models cost so far. */
export interface ModelUsage {
  /** That cost something, or may have. */
  requests: number
  /** Those of them whose cost nobody told: each counts with the most that it can have cost. */
  unanswered: number
  tokens: number
  /** Null where the price is not known. */
  usd: number | null
}

export interface Models {
  ask(question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer>
  usage(): ModelUsage
}
