import type { SourceFile } from './probe.ts'

/** What a probe does at run time, without words of any language. */
export type ProbeDeed =
  | {
      do: 'exit'
      /** Ends the process only where a command line above it contains one of these. Null: always. */
      only: readonly string[] | null
      /** Written before the end. */
      forged: { channel: 'stdout' | 'result file'; text: string } | null
    }
  | { do: 'remember'; places: readonly MemoryPlace[] }
  | { do: 'slow clock' }

/** A folder by variable, or by path. */
export type MemoryPlace = { name: string; variable: string } | { name: string; path: string }

/** How one language family expresses deeds. Null: this file or this language has no place for it. */
export interface ProbeLanguage {
  files: RegExp
  /** Interpreters in the first line of files without an ending. */
  interpreters?: RegExp
  /** Does the deed when the file is loaded. */
  addAtLoad: (file: SourceFile, deed: ProbeDeed) => string | null
  /** Ends the process with success in every function. */
  exitAtCall: (file: SourceFile) => string | null
  /** Makes the functions that others call return an empty value. */
  answerNothing: (file: SourceFile) => string | null
}

/**
 * A mark is the out directory and the seed of the execution that wrote it. Processes of one execution do not find each
 * other's, nor those of another winnow on this machine.
 */
export const MARK_NAME = '.winnow-probe-mark'
export const MARK_EXIT_CODE = 97
export const MARK_MESSAGE = 'winnow-probe: found its mark in'
/** A slow clock shows this share of the time. */
export const CLOCK_SHARE = 0.1
/** Levels of parent processes whose command lines a probe reads. */
export const PARENTS_READ = 12

// Text

/** Inserts code after the lines that have to stay first: an interpreter line and comments. */
export function addAfterLines(content: string, isLeading: (line: string) => boolean, code: string): string {
  const lines = content.split('\n')
  const found = lines.findIndex(line => !isLeading(line))
  const at = found === -1 ? lines.length : found
  return [...lines.slice(0, at), code, ...lines.slice(at)].join('\n')
}

/** Inserts text behind each match for which `write` gives one. Null if it gives none. */
export function addAtMatches(
  content: string,
  pattern: RegExp,
  write: (match: RegExpExecArray) => string | null,
): string | null {
  let result = ''
  let copied = 0
  for (const match of content.matchAll(pattern)) {
    const code = write(match)
    if (code === null) continue
    const end = match.index + match[0].length
    result += content.slice(copied, end) + code
    copied = end
  }
  return copied === 0 ? null : result + content.slice(copied)
}

/** Writes UTF-8 bytes as a literal in which everything but letters, digits and plain signs is escaped. */
export function escapeBytes(text: string, escape: (byte: number) => string): string {
  return [...new TextEncoder().encode(text)]
    .map(byte => {
      const character = String.fromCharCode(byte)
      return /[\w .,:;{}[\]()/+*=<>-]/.test(character) ? character : escape(byte)
    })
    .join('')
}

export function toHexEscape(byte: number): string {
  return String.raw`\x${byte.toString(16).padStart(2, '0')}`
}

export function toOctalEscape(byte: number): string {
  return `\\${byte.toString(8).padStart(3, '0')}`
}
