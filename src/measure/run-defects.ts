import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { toSafeLine } from '../model/text.ts'
import { isMapping } from '../spec/rule-context.ts'
import { hasErrorCode } from './file-system.ts'
import { isFolder } from './isolation/side-users.ts'
import { readCapped } from './output/capped-file.ts'

/**
 * The defects that AWP's critique wrote about a run: in `critique.defects` of run_completion.json, and in a
 * critique.json for each iteration, or for each worker of it. The files are what the measured code left there, so a
 * part that cannot be read says nothing.
 */

export const COMPLETION = 'run_completion.json'
const CRITIQUE = 'critique.json'
const MOST_BYTES = 2 ** 18
const MOST_COMPLETION_BYTES = 2 ** 23
const MOST_NAMES = 1_000
const MOST_ITERATIONS = 30
const MOST_WORKERS = 20
const MOST_DEFECTS = 500
const MOST_DEPTH = 5
const MOST_CHARACTERS = 160

interface FoundDefect {
  text: string
  severity: string
}

/** The most severe first, then the most frequent, then the latest. */
export function readRunDefects(runFolder: string): string[] {
  const completion = readDocument(join(runFolder, COMPLETION), MOST_COMPLETION_BYTES)
  const found = new Map<string, FoundDefect & { times: number; at: number }>()
  const documents = [...readIterations(runFolder), isMapping(completion) ? completion['critique'] : null]
  for (const [at, document] of documents.entries())
    for (const defect of new Map(listDefects(document).map(each => [each.text, each])).values()) {
      const times = found.get(defect.text)?.times ?? 0
      // The summary of the run repeats what its iterations found.
      const isRepeated = times > 0 && at === documents.length - 1
      found.set(defect.text, { ...defect, times: isRepeated ? times : times + 1, at })
    }
  return [...found.values()]
    .toSorted(
      (a, b) => rankSeverity(a.severity) - rankSeverity(b.severity) || b.times - a.times || b.at - a.at,
    )
    .map(({ text, times }) => (times === 1 ? text : `${text} (in ${times} iterations)`))
}

/** One value an iteration, in their order. The critique of an iteration contains those of its workers. */
function readIterations(runFolder: string): unknown[] {
  const top = join(runFolder, 'iterations')
  return listFolders(top)
    .slice(-MOST_ITERATIONS)
    .map(folder => {
      const whole = readDocument(join(folder, CRITIQUE))
      if (listDefects(whole).length > 0) return whole
      const workers = listFolders(join(folder, 'delegations')).slice(0, MOST_WORKERS)
      return workers.map(worker => readDocument(join(worker, CRITIQUE)))
    })
}

/** No links are followed, so that a run cannot show files from elsewhere. */
function listFolders(folder: string): string[] {
  if (!isFolder(folder)) return []
  try {
    const names = readdirSync(folder)
      .slice(0, MOST_NAMES)
      .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    return names.map(name => join(folder, name)).filter(isFolder)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return []
    throw error
  }
}

function readDocument(path: string, limit = MOST_BYTES): unknown {
  const read = readCapped(path, limit)
  try {
    return read.kind === 'text' ? JSON.parse(read.text) : null
  } catch {
    return null
  }
}

/** Finds lists named `defects` at any place near the top: a critique, a list of them, or one for each worker. */
function listDefects(value: unknown, depth = 0): FoundDefect[] {
  if (depth > MOST_DEPTH || typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value)
    .slice(0, MOST_DEFECTS)
    .flatMap(([key, child]) =>
      key === 'defects' && Array.isArray(child)
        ? child.slice(0, MOST_DEFECTS).flatMap(toDefect)
        : listDefects(child, depth + 1),
    )
  return inner.slice(0, MOST_DEFECTS)
}

function toDefect(value: unknown): FoundDefect | [] {
  const fields: Record<string, unknown> = isMapping(value) ? value : { description: value }
  const { description, summary, category, location, severity } = fields
  const what = toDefectText(description) || toDefectText(summary)
  if (what === '') return []
  const level = toDefectText(severity).toLowerCase()
  const kind = [level, toDefectText(category)].filter(part => part !== '').join(' ')
  const where = toDefectText(location)
  const text = `${kind === '' ? '' : `${kind}: `}${what}${where === '' ? '' : ` (at ${where})`}`
  return { text: toSafeLine(text, MOST_CHARACTERS), severity: level }
}

function toDefectText(value: unknown): string {
  return typeof value === 'string' ? toSafeLine(value, MOST_CHARACTERS) : ''
}

const SEVERITIES = new Map([
  ['critical', 0],
  ['high', 0],
  ['info', 2],
  ['low', 2],
])

function rankSeverity(severity: string): number {
  return SEVERITIES.get(severity) ?? 1
}
