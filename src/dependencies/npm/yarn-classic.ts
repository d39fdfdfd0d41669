import { Unreadable } from '../format.ts'

/** One block of a classic yarn.lock: who asks, and what they get. */
export interface YarnEntry {
  descriptors: readonly string[]
  fields: ReadonlyMap<string, string>
}

const TEXT = String.raw`"(?:[^"\\]|\\["\\])*"|[^\s",:#][^\s",:]*`
const HEAD = new RegExp(`^(?:${TEXT})(?:, (?:${TEXT}))*:$`)
const FIELD = new RegExp(`^  (version|resolved|integrity|uid) (${TEXT}|[^\\s",]+)$`)
const SECTION = /^ {2}(?:dependencies|optionalDependencies):$/
const MEMBER = new RegExp(`^    (?:${TEXT}) (?:${TEXT}|[^\\s",]+)$`)

/** Only lines as yarn itself writes them: its reader forgives more, and what it makes of that is not known here. */
export function parseClassic(text: string): YarnEntry[] {
  const entries: { descriptors: string[]; fields: Map<string, string> }[] = []
  const asked = new Set<string>()
  for (const line of text.split(/\r?\n/)) {
    if (line === '' || line.startsWith('#')) continue
    const entry = entries.at(-1)
    if (HEAD.test(line)) {
      const descriptors = textsIn(line)
      for (const descriptor of descriptors) claim(asked, descriptor)
      entries.push({ descriptors, fields: new Map() })
    } else if (entry === undefined || !isInner(line, entry.fields)) {
      throw new Unreadable(`has a line that yarn does not write: ${JSON.stringify(line.slice(0, 80))}`)
    }
  }
  return entries
}

function isInner(line: string, fields: Map<string, string>): boolean {
  const [, key, value] = FIELD.exec(line) ?? []
  if (key === undefined || value === undefined) return SECTION.test(line) || MEMBER.test(line)
  if (fields.has(key)) throw new Unreadable(`has two ${key} in one entry`)
  fields.set(key, unquoted(value))
  return true
}

function claim(asked: Set<string>, descriptor: string): void {
  if (asked.has(descriptor)) throw new Unreadable(`answers ${JSON.stringify(descriptor)} twice`)
  asked.add(descriptor)
}

function textsIn(line: string): string[] {
  return [...line.matchAll(new RegExp(TEXT, 'g'))].map(([text]) => unquoted(text))
}

function unquoted(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replace(/\\(["\\])/g, '$1') : text
}
