import { Unreadable } from '../format.ts'

/** One block of a classic yarn.lock: who asks, and what they get. */
export interface YarnEntry {
  descriptors: readonly string[]
  fields: ReadonlyMap<string, string>
  /** What it needs: `name` and range. */
  wanted: readonly (readonly [name: string, range: string])[]
}

const TEXT = String.raw`"(?:[^"\\]|\\["\\])*"|[^\s",:#][^\s",:]*`
const HEAD = new RegExp(`^(?:${TEXT})(?:, (?:${TEXT}))*:$`)
const FIELD = new RegExp(`^  (version|resolved|integrity|uid) (${TEXT}|[^\\s",]+)$`)
const SECTION = /^ {2}(?:dependencies|optionalDependencies):$/
const MEMBER = new RegExp(`^    (${TEXT}) (${TEXT}|[^\\s",]+)$`)

/** Only lines as yarn itself writes them: its reader forgives more, and what it makes of that is not known here. */
export function parseYarnClassic(text: string): YarnEntry[] {
  const entries: YarnEntryDraft[] = []
  const asked = new Set<string>()
  for (const line of text.split(/\r?\n/)) {
    if (line === '' || line.startsWith('#')) continue
    const entry = entries.at(-1)
    if (HEAD.test(line)) {
      const descriptors = parseQuotedTexts(line)
      for (const descriptor of descriptors) claimDescriptors(asked, descriptor)
      entries.push({ descriptors, fields: new Map(), wanted: [] })
    } else if (entry === undefined || !isInner(line, entry)) {
      throw new Unreadable(`has a line that yarn does not write: ${JSON.stringify(line.slice(0, 80))}`)
    }
  }
  return entries
}

interface YarnEntryDraft {
  descriptors: string[]
  fields: Map<string, string>
  wanted: [name: string, range: string][]
}

function isInner(line: string, { fields, wanted }: YarnEntryDraft): boolean {
  const [, key, value] = FIELD.exec(line) ?? []
  if (key === undefined || value === undefined) return SECTION.test(line) || isMember(line, wanted)
  if (fields.has(key)) throw new Unreadable(`has two ${key} in one entry`)
  fields.set(key, unquoteYarnText(value))
  return true
}

function isMember(line: string, wanted: YarnEntryDraft['wanted']): boolean {
  const [, name, range] = MEMBER.exec(line) ?? []
  if (name === undefined || range === undefined) return false
  wanted.push([unquoteYarnText(name), unquoteYarnText(range)])
  return true
}

function claimDescriptors(asked: Set<string>, descriptor: string): void {
  if (asked.has(descriptor)) throw new Unreadable(`answers ${JSON.stringify(descriptor)} twice`)
  asked.add(descriptor)
}

function parseQuotedTexts(line: string): string[] {
  return [...line.matchAll(new RegExp(TEXT, 'g'))].map(([text]) => unquoteYarnText(text))
}

function unquoteYarnText(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replace(/\\(["\\])/g, '$1') : text
}
