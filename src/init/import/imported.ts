import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { UserError } from '../../errors.ts'
import type { PriorResult } from '../../ideas/prior-results.ts'
import { toSafeLine } from '../../model/text.ts'
import type { IdeaText } from '../../plan/world.ts'

/** What the file of another tool says, in the terms of winnow. */
export interface ImportedFile {
  /** For people: "artifact-loop task". */
  what: string
  name: string | null
  /** Sections of a spec. Several files of one campaign may each have some. */
  spec: Record<string, unknown>
  /** The spec without its measuring part, for an import in which another file has that. Absent: importing both is an error. */
  spare?: Pick<ImportedFile, 'spec' | 'left'>
  /** The spec as it stands in the file, where winnow reads it unchanged. */
  specText?: string
  ideas: IdeaText[]
  results: PriorResult[]
  left: Leftover[]
}

/** What was not imported, in one sentence. */
export interface Leftover {
  line: number | null
  text: string
}

export interface ImportSource {
  /** As the person typed it. */
  file: string
  text: string
}

/** Removes what has no value, so that defaults stay defaults. */
export function dropEmpty(value: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [
    key,
    isRecord(inner) ? dropEmpty(inner) : inner,
  ])
  return Object.fromEntries(entries.filter(([, inner]) => !isEmptyValue(inner)))
}

function isEmptyValue(value: unknown): boolean {
  if (value === undefined || value === null) return true
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const LONGEST_TEXT = 600

export function toText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') return undefined
  return toSafeLine(value, LONGEST_TEXT) || undefined
}

export function selectNumbers(value: unknown): Record<string, number> | undefined {
  if (!isRecord(value)) return undefined
  const numbers = Object.entries(value).flatMap(([name, one]): [string, number][] =>
    typeof one === 'number' && Number.isFinite(one) ? [[name, one]] : [],
  )
  return numbers.length === 0 ? undefined : Object.fromEntries(numbers)
}

/** Leaves out what is undefined, which a history file cannot hold. */
export function buildPriorResult(
  fields: {
    [K in keyof PriorResult]: PriorResult[K] | undefined
  },
): PriorResult {
  const { from = '', idea = 'no description', result = 'no result', ...more } = fields
  return { from, idea, result, ...(dropEmpty(more) as Omit<PriorResult, 'from' | 'idea' | 'result'>) }
}

// YAML and JSON with lines

type KeyPath = readonly (string | number)[]

/** A YAML or JSON file. JSON is valid YAML. */
export class DataFile {
  readonly file: string
  readonly value: unknown
  readonly #contents: Node | null
  readonly #lines = new LineCounter()

  constructor({ file, text }: ImportSource) {
    this.file = file
    const options = { lineCounter: this.#lines, prettyErrors: false, logLevel: 'error' } as const
    const document = parseDocument(text, options)
    const [error] = document.errors
    if (error !== undefined) {
      const { line } = this.#lines.linePos(error.pos[0])
      throw new UserError(`${file} is not valid YAML or JSON: ${error.message}`, {
        place: { file, line },
        fix: 'correct it there',
      })
    }
    this.value = document.toJS({ maxAliasCount: 100 })
    this.#contents = document.contents
  }

  /** The line of a key, or of the nearest part above it. */
  findLine(path: KeyPath): number {
    let node: unknown = this.#contents
    let offset = 0
    for (const part of path) {
      const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && key.value === part) : undefined
      const inner = isSeq(node) && typeof part === 'number' ? node.items[part] : pair?.value
      const start = (pair?.key ?? inner) as Node | undefined
      if (start?.range == null) break
      offset = start.range[0]
      node = inner
    }
    return Math.max(1, this.#lines.linePos(offset).line)
  }

  getTop(): Section {
    return new Section(this, this.value, [])
  }
}

/** Remembers which keys an importer has read, so that it lists every other key. */
export class Section {
  readonly #data: DataFile
  readonly #value: Record<string, unknown>
  readonly #path: KeyPath
  readonly #read = new Set<string>()
  readonly #inner: Section[] = []
  readonly #left: Leftover[] = []

  constructor(data: DataFile, value: unknown, path: KeyPath) {
    this.#data = data
    this.#value = isRecord(value) ? value : {}
    this.#path = path
  }

  get(key: string): unknown {
    this.#read.add(key)
    return this.#value[key] ?? undefined
  }

  /** Text may have several lines, as commands do. */
  text(key: string): string | undefined {
    const value = this.get(key)
    if (value === undefined || (typeof value === 'string' && value.trim() !== '')) return value
    if (typeof value === 'number' || typeof value === 'boolean') return String(value)
    this.#leave(key, 'it is not a text')
    return undefined
  }

  number(key: string): number | undefined {
    const value = this.get(key)
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value
    this.#leave(key, 'it is not a number')
    return undefined
  }

  texts(key: string): string[] {
    const value = this.get(key)
    const list = Array.isArray(value) ? value : value === undefined ? [] : [value]
    return list.filter((one): one is string => typeof one === 'string' && one.trim() !== '')
  }

  section(key: string): Section {
    const value = this.get(key)
    if (value !== undefined && !isRecord(value)) this.#leave(key, 'it is not a mapping')
    return this.#add(value, [key])
  }

  sections(key: string): Section[] {
    const value = this.get(key)
    return Array.isArray(value) ? value.map((one, index) => this.#add(one, [key, index])) : []
  }

  /** One of the allowed words. Without one, the default of winnow applies and the key is listed. */
  choose(key: string, allowed: readonly string[]): string | undefined {
    const value = this.text(key)
    if (value === undefined || allowed.includes(value)) return value
    this.#leave(key, `winnow has only ${allowed.join(' and ')}`)
    return undefined
  }

  require(key: string): string {
    return this.text(key) ?? this.fail(key, 'is missing')
  }

  fail(key: string, problem: string): never {
    throw new UserError(`${this.#name(key)} ${problem}, and a spec cannot be written without it`, {
      place: { file: this.#data.file, line: this.#data.findLine([...this.#path, key]) },
      fix: `add ${this.#name(key)} and import the file again`,
    })
  }

  /** Lists the keys that are there and that winnow cannot keep. */
  leave(why: string, ...keys: readonly string[]): void {
    for (const key of keys) if (this.get(key) !== undefined) this.#leave(key, why)
  }

  /** What was left, with every key that was not read. */
  listLeft(): Leftover[] {
    const unread = Object.keys(this.#value).filter(key => !this.#read.has(key))
    for (const key of unread) this.#leave(key, 'winnow does not know this key')
    return [...this.#left, ...this.#inner.flatMap(each => each.listLeft())].toSorted(
      (a, b) => (a.line ?? 0) - (b.line ?? 0),
    )
  }

  #add(value: unknown, path: KeyPath): Section {
    const inner = new Section(this.#data, value, [...this.#path, ...path])
    this.#inner.push(inner)
    return inner
  }

  #leave(key: string, why: string): void {
    this.#read.add(key)
    const line = this.#data.findLine([...this.#path, key])
    this.#left.push({ line, text: `${this.#name(key)}: ${why}` })
  }

  #name(key: string): string {
    return [...this.#path, key].reduce<string>(
      (name, part) =>
        typeof part === 'number' ? `${name}[${part}]` : name === '' ? String(part) : `${name}.${part}`,
      '',
    )
  }
}

// Lines of JSON

/** Empty lines are skipped. Lines that are no JSON object are left, with their number. */
export function readJsonLines({ text }: ImportSource): {
  rows: { line: number; value: Record<string, unknown> }[]
  left: Leftover[]
} {
  const rows: { line: number; value: Record<string, unknown> }[] = []
  const left: Leftover[] = []
  for (const [index, content] of text.split('\n').entries()) {
    if (content.trim() === '') continue
    const value = parseJson(content)
    if (isRecord(value)) rows.push({ line: index + 1, value })
    else left.push({ line: index + 1, text: 'this line is not a JSON object' })
  }
  return { rows, left }
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
