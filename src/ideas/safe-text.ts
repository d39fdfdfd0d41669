import { toPrintable } from '../measure/output/capped-file.ts'

/**
 * Puts untrusted text on one line: it cannot steer a terminal, start a line of its own or forge a trailer.
 */
export function toSafeLine(text: string, most: number): string {
  return capLength(toPrintable(text).replace(/\s+/g, ' ').trim(), most)
}

export function toSafeParagraphs(text: string, most: number): string {
  return capLength(toPrintable(text).trim(), most)
}

/** A Markdown code span that its content cannot end. */
export function quoteCode(text: string, most: number): string {
  return `\`${toSafeLine(text, most).replaceAll('`', "'")}\``
}

/** Does not cut a surrogate pair in half. */
function capLength(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
