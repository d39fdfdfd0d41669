import { Buffer } from 'node:buffer'

export function countBytes(text: string): number {
  return Buffer.byteLength(text, 'utf8')
}

/** As many lines as fit into so many bytes, and a last one that says how many did not. */
export function fitIntoBytes(lines: readonly string[], most: number): string[] {
  const kept: string[] = []
  let room = most - countBytes(formatMore(lines.length))
  for (const line of lines) {
    room -= countBytes(line) + 1
    if (room < 0) return [...kept, formatMore(lines.length - kept.length)]
    kept.push(line)
  }
  return kept
}

function formatMore(count: number): string {
  return `- … and ${count} more`
}

/** A heading with what belongs under it; nothing at all where that is nothing. */
export function renderBriefSection(heading: string, lines: readonly string[], most: number): string[] {
  const body = fitIntoBytes(lines, most - countBytes(heading) - 6)
  return body.length === 0 ? [] : [`## ${heading}`, ...body, '']
}
