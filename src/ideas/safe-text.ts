import { toPrintable } from '../measure/output/capped-file.ts'

/** Text from outside on one line: it cannot steer a terminal, begin a line of its own or forge a trailer. */
export function toSafeLine(text: string, most: number): string {
  return capLength(toPrintable(text).replace(/\s+/g, ' ').trim(), most)
}

export function toSafeParagraphs(text: string, most: number): string {
  return capLength(toPrintable(text).trim(), most)
}

/** As a code span of Markdown, which nothing inside it can end. */
export function quoteCode(text: string, most: number): string {
  return `\`${toSafeLine(text, most).replaceAll('`', "'")}\``
}

/** Never ends in half a character. */
function capLength(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
