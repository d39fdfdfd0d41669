/** The JSON object that a text is, with or without other lines before and after it; null where there is none. */
export function findJsonObject(text: string): Record<string, unknown> | null {
  const slice = findObjectLines(text)
  return slice === null ? null : slice.object
}

export interface ObjectLines {
  object: Record<string, unknown>
  before: string[]
  after: string[]
}

export function findObjectLines(text: string): ObjectLines | null {
  const lines = text.split(/\r?\n/)
  const first = lines.findIndex(line => line.trimStart().startsWith('{'))
  const last = lines.findLastIndex(line => line.trimEnd().endsWith('}'))
  if (first === -1) return null
  const object = parseObject(lines.slice(first, last + 1).join('\n'))
  return object === null ? null : { object, before: lines.slice(0, first), after: lines.slice(last + 1) }
}

/** Not a schema: those drop a member called __proto__, and every printed member must be seen. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(text)
    return isObject(parsed) ? parsed : null
  } catch {
    // Not JSON: then it is a log.
    return null
  }
}

function isObject(parsed: unknown): parsed is Record<string, unknown> {
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
}
