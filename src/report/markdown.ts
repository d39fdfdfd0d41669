import { toOneLine } from '../model/landing.ts'
import { neutralizeMentions } from '../model/unlinked.ts'
import { toPlainText } from './plain-text.ts'

const CELL_LENGTH = 160

/**
 * The one way of text from branches into Markdown: it stays text. No markup, no HTML, no mentions, no links to
 * issues, no turned direction; one line.
 */
export function escapeMarkdown(text: string, length = CELL_LENGTH): string {
  const plain = neutralizeMentions(toOneLine(toPlainText(text), length))
  return plain
    .replace(/[\\`*_{}[\]<>|~$]/g, character => `\\${character}`)
    .replaceAll('&', '&amp;')
    .replace(/^([-+=#]|\d+(?=[.)](?:\s|$)))/, (_all, first: string) =>
      /\d/.test(first) ? `${first}\\` : `\\${first}`,
    )
}

/** A name in a code span, where Markdown escapes nothing but what would end a cell of a table. */
export function formatCode(text: string, length = CELL_LENGTH): string {
  const plain = neutralizeMentions(toOneLine(toPlainText(text), length))
  return `\`${plain.replaceAll('`', "'").replaceAll('|', '\\|')}\``
}

/** As many whole lines as there is room for; of the others how many they are. What comes after them stays whole. */
export function fitLines(lines: readonly string[], room: number, rest: (left: number) => string): string[] {
  let used = 0
  const over = lines.findIndex(line => (used += line.length + 1) > room)
  return over === -1 ? [...lines] : [...lines.slice(0, over), rest(lines.length - over)]
}
