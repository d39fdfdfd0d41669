import { createHash } from 'node:crypto'

/** One file of a change: what is in it before and after, null where it is not there (or is no text). */
export interface ChangedFile {
  path: string
  before: string | null
  after: string | null
}

/** A change as far as it tells variants of one idea (decision.md 3.4), short enough to be recorded. */
export interface TouchedLines {
  /** Digest of the names of its files. */
  files: string
  /** Digests of the lines it changes, each with its file. */
  lines: string[]
}

/** Of a larger change the lowest digests stand for all: the same of two changes that are alike. */
const MAX_DIGESTS = 200

/**
 * The lines a change takes away, or where it only adds, those it adds: a constant that is tuned once more is the
 * same line, whatever it is set to. Blanks and indentation make no new idea.
 */
export function digestTouchedLines(files: readonly ChangedFile[]): TouchedLines {
  const names = files.map(({ path }) => path).toSorted()
  const lines = new Set(files.flatMap(digestLines))
  return { files: digestText(names.join('\n'), 16), lines: [...lines].toSorted().slice(0, MAX_DIGESTS) }
}

function digestLines({ path, before, after }: ChangedFile): string[] {
  const old = splitLines(before)
  const now = splitLines(after)
  const removed = [...old].filter(line => !now.has(line))
  const changed = removed.length > 0 ? removed : [...now].filter(line => !old.has(line))
  return changed.map(line => digestText(`${path}\n${line}`, 8))
}

function splitLines(text: string | null): Set<string> {
  const lines = (text ?? '').split('\n').map(line => line.trim())
  return new Set(lines.filter(line => line !== ''))
}

function digestText(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}
