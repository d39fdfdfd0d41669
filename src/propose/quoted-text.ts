import { printable } from '../measure/output/capped-file.ts'

/** Text from outside on one line: it cannot steer a terminal, begin a line of its own or forge a trailer. */
export function oneLine(text: string, most: number): string {
  return capped(printable(text).replace(/\s+/g, ' ').trim(), most)
}

export function paragraphs(text: string, most: number): string {
  return capped(printable(text).trim(), most)
}

/** As a code span of Markdown, which nothing inside it can end. */
export function quoted(text: string, most: number): string {
  return `\`${oneLine(text, most).replaceAll('`', "'")}\``
}

/** Never ends in half a character. */
function capped(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
