import { CONTROL_CHARACTERS, neutralizeMentions, toOneLine, toPlainText } from '../model/text.ts'

// Markdown

const MAX_CELL_LENGTH = 160

/**
 * The only way for text from branches into Markdown: leaves no markup, HTML, mention, link or line break. Escapes only
 * what would be markup where it stands, because people read the files raw, too.
 */
export function escapeMarkdown(text: string, length = MAX_CELL_LENGTH): string {
  const plain = neutralizeMentions(toOneLine(toPlainText(text), length))
  return plain
    .replace(plain.includes('<') ? MARKUP_AND_TAGS : MARKUP, character => `\\${character}`)
    .replace(/&(?=[#\p{L}])/gu, '&amp;')
    .replace(/^([-+=#>]|\d+(?=[.)](?:\s|$)))/, (_all, first: string) =>
      /\d/.test(first) ? `${first}\\` : `\\${first}`,
    )
}

/** An underscore inside a word is no markup, and `>` ends no tag that has not begun. */
const MARKUP = /[\\`*{}[\]|~$]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu
const MARKUP_AND_TAGS = new RegExp(`[<>]|${MARKUP.source}`, 'gu')

/** Inside a code span, Markdown escapes only the end of a table cell. */
export function formatCode(text: string, length = MAX_CELL_LENGTH): string {
  const plain = neutralizeMentions(toOneLine(toPlainText(text), length))
  return `\`${plain.replaceAll('`', "'").replaceAll('|', '\\|')}\``
}

/** Prints whole lines up to `room` characters, and counts the rest. Text after the lines stays whole. */
export function fitLines(lines: readonly string[], room: number, rest: (left: number) => string): string[] {
  let used = 0
  const over = lines.findIndex(line => (used += line.length + 1) > room)
  return over === -1 ? [...lines] : [...lines.slice(0, over), rest(lines.length - over)]
}

// CI runners and terminals

const SEPARATOR = '\u200b'

/** CI runners execute printed commands: `::name::` at the start of a line, `##[name]` anywhere. */
export function neutralizeWorkflowCommands(text: string): string {
  return text.replace(/^([^\S\n]*):(?=:)/gm, `$1:${SEPARATOR}`).replaceAll('##[', `##${SEPARATOR}[`)
}

/** Escapes JSON lines for a CI runner. They parse back to the same value. */
export function neutralizeJsonCommands(json: string): string {
  return json.replaceAll('##[', '##\\u005b')
}

/** Escapes characters that a terminal would interpret, without changing the JSON value. */
export function toPlainJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) ?? 'null'
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replace(CONTROL_CHARACTERS, character => (character === '\n' ? character : escape(character)))
}
