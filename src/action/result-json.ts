/** GitHub takes 1 MB of outputs of a job, of two bytes a character; the other outputs are short. */
export const MOST_CHARACTERS = 480_000

interface TruncationStage {
  /** Characters of a text. */
  text: number
  /** Entries of a list, or of an object below the first one. */
  entries: number
}

/** From one to the next more is left out, until the rest fits. */
const STAGES: readonly TruncationStage[] = [
  { text: 2_000, entries: 10_000 },
  { text: 1_000, entries: 1_000 },
  { text: 300, entries: 100 },
  { text: 100, entries: 10 },
]
const LAST: TruncationStage = { text: 100, entries: 100 }

/**
 * The answer of a command as an output can hold it: JSON as before, and where it was too long, less of it, which `cut`
 * says.
 */
export function fitJson(json: string): string {
  if (json.length <= MOST_CHARACTERS) return json
  const value = parseJsonText(json) ?? json
  for (const stage of STAGES) {
    const shorter = JSON.stringify({
      ...toObject(truncateValue(value, stage, true)),
      cut: describeTruncation(stage),
    })
    if (shorter.length <= MOST_CHARACTERS) return shorter
  }
  return JSON.stringify({ ...keepPlainValues(value), cut: 'everything but plain values of the first level' })
}

/** Undefined for what is no JSON: nothing, or words for a person. */
export function parseJsonText(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function describeTruncation({ text, entries }: TruncationStage): string {
  return `texts after ${text} characters, lists and lower objects after ${entries} entries`
}

/** A list, or a text, has no room for a word beside it. */
function toObject(value: unknown): object {
  return isObject(value) ? value : { result: value }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function truncateValue(value: unknown, stage: TruncationStage, first = false): unknown {
  if (typeof value === 'string') return cutText(value, stage.text)
  if (Array.isArray(value)) return value.slice(0, stage.entries).map(each => truncateValue(each, stage))
  if (!isObject(value)) return value
  const entries = Object.entries(value)
  const kept = first ? entries : entries.slice(0, stage.entries)
  return Object.fromEntries(kept.map(([key, each]) => [key, truncateValue(each, stage)]))
}

function cutText(text: string, most: number): string {
  // Half a character is none.
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\u{D800}-\u{DBFF}]$/u, '')}…`
}

function keepPlainValues(value: unknown): object {
  const entries = Object.entries(toObject(value)).filter(
    ([key, each]) => key.length <= LAST.text && (typeof each !== 'object' || each === null),
  )
  return Object.fromEntries(
    entries.slice(0, LAST.entries).map(([key, each]) => [key, truncateValue(each, LAST)]),
  )
}
