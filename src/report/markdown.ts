import { neutralizeMentions, toOneLine } from '../model/text.ts'

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

/**
 * Text from branches, harnesses and remotes on its way to a terminal: escape sequences, control characters and
 * characters that turn the writing direction could hide or fake what is shown.
 */
const ESCAPE = String.fromCodePoint(27)
const BELL = String.fromCodePoint(7)
const SEQUENCES = new RegExp(
  [
    `${ESCAPE}\\[[0-?]*[ -/]*[@-~]`,
    `${ESCAPE}\\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\\\)?`,
    `${ESCAPE}[PX^_][^${ESCAPE}]*(?:${ESCAPE}\\\\)?`,
    `${ESCAPE}[ -/]*[0-~]`,
  ].join('|'),
  'g',
)
const OBEYED = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

export function toPlainText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(SEQUENCES, '')
    .replace(OBEYED, character => (character === '\n' || character === '\t' ? character : ''))
}

/**
 * A CI runner takes orders from what is printed: `::name::` at the beginning of a line, `##[name]` anywhere. Broken
 * up they are text.
 */
export function neutralizeWorkflowCommands(text: string): string {
  return text.replace(/^([^\S\n]*):(?=:)/gm, `$1:${APART}`).replaceAll('##[', `##${APART}[`)
}

const APART = '\u200b'

/** The same for JSON on lines of its own, which reads back as it was. */
export function neutralizeJsonCommands(json: string): string {
  return json.replaceAll('##[', '##\\u005b')
}

/** JSON loses nothing: what a terminal would obey is escaped. */
export function toPlainJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) ?? 'null'
  return text.replace(OBEYED, character => (character === '\n' ? character : escapeCharacter(character)))
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
