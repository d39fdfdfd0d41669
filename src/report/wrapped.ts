import { countColumns } from './text-width.ts'

const HANG = 4
/** A drawn bar is one word, spaces and all; it may end in the sign that also closes it. */
const WORD = /( *)(▕[^▕]*▏|\S+)/gu

/**
 * A line of a table or a sentence as lines that fit: broken between words, what is continued stands further in. A
 * cell that fits whole on a line of its own gets one. A word that fits nowhere stays whole, to be copied.
 */
export function wrapLine(line: string, columns: number): string[] {
  if (countColumns(line) <= columns) return [line]
  const indent = /^ */.exec(line)?.[0].length ?? 0
  const inner = ' '.repeat(Math.min(indent + HANG, Math.floor(columns / 2)))
  const lines: string[] = []
  let current = ' '.repeat(Math.min(indent, Math.floor(columns / 2)))
  let empty = true
  for (const { gap, words } of splitCells(line.slice(indent))) {
    const whole = words.join(' ')
    const late = gap > 1 && countColumns(current) > columns / 2
    const ownLine = late && !fits(current, gap, whole) && fits(inner, 0, whole)
    for (const [at, word] of words.entries()) {
      const before = at === 0 ? Math.min(gap, 2) : 1
      const next = (ownLine && at === 0) || (!empty && !fits(current, before, word))
      if (next) lines.push(current)
      current = next ? `${inner}${word}` : `${current}${empty ? '' : ' '.repeat(before)}${word}`
      empty = false
    }
  }
  return [...lines, current]

  function fits(text: string, gap: number, more: string): boolean {
    return countColumns(text) + Math.min(gap, 2) + countColumns(more) <= columns
  }
}

interface WrapCell {
  /** Spaces before it. */
  gap: number
  words: string[]
}

/** Columns of a table are further apart than words. */
function splitCells(text: string): WrapCell[] {
  const cells: WrapCell[] = []
  for (const [, spaces = '', word = ''] of text.matchAll(WORD)) {
    const last = cells.at(-1)
    if (last === undefined || spaces.length > 1) cells.push({ gap: spaces.length, words: [word] })
    else last.words.push(word)
  }
  return cells
}
