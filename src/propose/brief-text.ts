import { Buffer } from 'node:buffer'

export function bytesOf(text: string): number {
  return Buffer.byteLength(text, 'utf8')
}

/** As many lines as fit into so many bytes, and a last one that says how many did not. */
export function fitting(lines: readonly string[], most: number): string[] {
  const kept: string[] = []
  let room = most - bytesOf(more(lines.length))
  for (const line of lines) {
    room -= bytesOf(line) + 1
    if (room < 0) return [...kept, more(lines.length - kept.length)]
    kept.push(line)
  }
  return kept
}

function more(count: number): string {
  return `- … and ${count} more`
}

/** A heading with what belongs under it; nothing at all where that is nothing. */
export function section(heading: string, lines: readonly string[], most: number): string[] {
  const body = fitting(lines, most - bytesOf(heading) - 6)
  return body.length === 0 ? [] : [`## ${heading}`, ...body, '']
}
