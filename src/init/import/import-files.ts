import { parseDocument, stringify } from 'yaml'
import { UserError } from '../../errors.ts'
import { normalizeHypothesis } from '../../ideas/idea-block.ts'
import { buildHistoryPath, buildIdeasPath, renderHistoryFile } from '../../ideas/prior-results.ts'
import type { IdeaText } from '../../plan/world.ts'
import { SpecErrors, UNKNOWN_KEY } from '../../spec/errors.ts'
import { parseSpec } from '../../spec/load.ts'
import { listPlannedFeatures, listPlannedKeyPaths } from '../../spec/planned-features.ts'
import { mapSuite } from '../../spec/suite.ts'
import { SCHEMA_URL } from '../draft.ts'
import type { NewFile } from '../harness.ts'
import { importResultLines, importTask } from './artifact-loop.ts'
import { importProgram } from './autoloop.ts'
import { importMetricLines, importResultsTable, importSessionLog } from './autoresearch.ts'
import { importCeLog, importCeSpec } from './ce-optimize.ts'
import {
  importEvoAnnotations,
  importEvoConfig,
  importEvoGraph,
  importEvoProposals,
  importEvoResult,
  importEvoScore,
} from './evo.ts'
import {
  importAutoresearchCommand,
  importChecksScript,
  importEvoProject,
  importIdeaFile,
  importSessionPrompt,
  importTrainingProgram,
  isAutoresearchCommand,
  isSessionPrompt,
  isTrainingProgram,
} from './prose.ts'
import {
  DataFile,
  type ImportedFile,
  isRecord,
  type Leftover,
  parseJson,
  type ImportSource,
} from './imported.ts'

export const IMPORT_KINDS = [
  'ce-optimize',
  'artifact-loop',
  'awp',
  'evo',
  'autoresearch',
  'autoloop',
] as const
type ImportKind = (typeof IMPORT_KINDS)[number]

export interface ImportOptions {
  kind?: string | undefined
  name?: string | undefined
  direction?: string | undefined
}

export interface ImportedCampaign {
  name: string
  /** Null where the files hold results or ideas only. */
  specPath: string | null
  files: NewFile[]
  read: { file: string; what: string; ideas: number; results: number }[]
  left: (Leftover & { file: string })[]
}

/** Turns files of other tools about one campaign into the files of winnow. */
export function importFiles(sources: readonly ImportSource[], options: ImportOptions = {}): ImportedCampaign {
  const all = dropSpareSpecs(
    sources.map(source => ({ file: source.file, ...importFile(source, options.kind) })),
  )
  const left = all.flatMap(each => each.left.map(one => ({ ...one, file: each.file })))
  const name = findCampaignName(all, options.name)
  const specs = all.filter(hasOwnSpec)
  if (specs.length > 1)
    throw new UserError(`${specs.map(({ file }) => file).join(' and ')} both say how to measure`, {
      fix: 'import them one at a time',
    })
  const spec = buildSpecText(all, { name, direction: options.direction })
  const files: NewFile[] = []
  const specPath = spec === null ? null : `.winnow/${name}.yaml`
  if (spec !== null && specPath !== null) {
    const fitted = fitSpec(spec.text, { file: spec.file, path: specPath })
    left.push(...[...spec.left, ...fitted.left].map(one => ({ ...one, file: spec.file })))
    files.push({ path: specPath, text: fitted.text })
  }
  const ideas = dedupeIdeas(all.flatMap(each => each.ideas))
  if (ideas.length > 0) files.push({ path: buildIdeasPath(name), text: stringify(ideas, { lineWidth: 100 }) })
  const results = all.flatMap(each => each.results)
  if (results.length > 0) files.push({ path: buildHistoryPath(name), text: renderHistoryFile(results) })
  if (files.length === 0)
    throw new UserError(`${sources.map(({ file }) => file).join(', ')}: nothing in it can be imported`, {
      fix: 'import it together with the file that says how to measure',
    })
  const read = all.map(({ file, what, ideas: found, results: experiments }) => ({
    file,
    what,
    ideas: found.length,
    results: experiments.length,
  }))
  return { name, specPath, files, read, left }
}

/** The page of a session says more than its script does. */
function dropSpareSpecs<T extends ImportedFile>(all: readonly T[]): T[] {
  const isMeasured = all.some(each => each.spare === undefined && hasOwnSpec(each))
  return all.map(each => (isMeasured && each.spare !== undefined ? { ...each, ...each.spare } : each))
}

function hasOwnSpec({ spec, specText }: ImportedFile): boolean {
  return specText !== undefined || hasCommand(spec)
}

function findCampaignName(all: readonly (ImportedFile & { file: string })[], given?: string): string {
  const name = given ?? all.map(each => each.name).find(each => each !== null && each !== '')
  if (name !== undefined && name !== null) return name
  throw new UserError('the files name no campaign', {
    place: { file: all[0]?.file ?? '' },
    fix: 'name it with --name',
  })
}

// Recognition

interface Format {
  kind: ImportKind
  matches(source: ImportSource, value: unknown): boolean
  read(source: ImportSource): ImportedFile
}

function hasKeys(value: unknown, ...keys: readonly string[]): boolean {
  return isRecord(value) && keys.every(key => Object.hasOwn(value, key))
}

/** The first object of a file with one JSON object a line. */
function readFirstLine({ text }: ImportSource): unknown {
  return parseJson(text.trimStart().split('\n', 1)[0] ?? '')
}

const HEADER_COLUMNS = /(?:^|\t)(?:commit|status)(?:\t|$)/

/** Recognised by content, or by a name where the content is free, in this order. */
const FORMATS: readonly Format[] = [
  {
    kind: 'autoloop',
    matches: ({ text }) => /^## Target\b/im.test(text) && /^## Evaluation\b/im.test(text),
    read: importProgram,
  },
  { kind: 'autoresearch', matches: ({ text }) => isSessionPrompt(text), read: importSessionPrompt },
  { kind: 'autoresearch', matches: ({ text }) => isTrainingProgram(text), read: importTrainingProgram },
  {
    kind: 'autoresearch',
    matches: ({ text }) => isAutoresearchCommand(text),
    read: importAutoresearchCommand,
  },
  {
    kind: 'autoresearch',
    matches: ({ file }) => /(?:^|\/)(?:\.auto\/|autoresearch\.)ideas\.md$/.test(file),
    read: importIdeaFile,
  },
  {
    kind: 'autoresearch',
    matches: ({ file }) => /(?:^|\/)(?:\.auto\/|autoresearch\.)checks\.sh$/.test(file),
    read: importChecksScript,
  },
  // evo has one Markdown file, and agents write it freely.
  { kind: 'evo', matches: ({ file }) => /(?:^|\/)project\.md$/.test(file), read: importEvoProject },
  {
    kind: 'autoresearch',
    matches: ({ text }) =>
      HEADER_COLUMNS.test(text.split('\n').find(line => !line.startsWith('#')) ?? '') && text.includes('\t'),
    read: importResultsTable,
  },
  {
    kind: 'autoresearch',
    matches: source => hasKeys(readFirstLine(source), 'type', 'metricName'),
    read: importSessionLog,
  },
  {
    kind: 'evo',
    matches: source => hasKeys(readFirstLine(source), 'hypothesis', 'title'),
    read: importEvoProposals,
  },
  {
    kind: 'artifact-loop',
    matches: source => {
      const first = readFirstLine(source)
      const decided = hasKeys(first, 'decision') || hasKeys(first, 'outcome') || hasKeys(first, 'status')
      return decided && !hasKeys(first, 'experiment_id')
    },
    read: importResultLines,
  },
  {
    kind: 'autoresearch',
    matches: ({ text }) =>
      /^METRIC\s+[\w.µ]+=/m.test(text) || (text.startsWith('#!') && /METRIC\s+[\w.µ]+=/.test(text)),
    read: importMetricLines,
  },
  { kind: 'artifact-loop', matches: (_, value) => hasKeys(value, 'artifacts', 'runner'), read: importTask },
  { kind: 'ce-optimize', matches: (_, value) => hasKeys(value, 'metric', 'measurement'), read: importCeSpec },
  {
    kind: 'ce-optimize',
    matches: (_, value) => hasKeys(value, 'experiments', 'spec') || hasKeys(value, 'hypothesis_backlog'),
    read: importCeLog,
  },
  {
    kind: 'awp',
    matches: (_, value) => isRecord(value) && Array.isArray(value['tasks']) && hasKeys(value, 'name'),
    read: importSuite,
  },
  {
    kind: 'evo',
    matches: (_, value) => hasKeys(value, 'target', 'benchmark', 'metric'),
    read: importEvoConfig,
  },
  { kind: 'evo', matches: (_, value) => hasKeys(value, 'nodes', 'root'), read: importEvoGraph },
  { kind: 'evo', matches: (_, value) => hasKeys(value, 'annotations'), read: importEvoAnnotations },
  { kind: 'evo', matches: (_, value) => hasKeys(value, 'experiment_id', 'score'), read: importEvoResult },
  { kind: 'evo', matches: (_, value) => hasKeys(value, 'score'), read: importEvoScore },
]

function importFile(source: ImportSource, kind: string | undefined): ImportedFile {
  const value = readValue(source)
  if (hasKeys(value, 'winnow'))
    throw new UserError(`${source.file} is a spec of winnow already`, {
      place: { file: source.file },
      fix: 'commit it to .winnow/ and run winnow check',
    })
  const formats = FORMATS.filter(format => kind === undefined || format.kind === kind)
  const format = formats.find(each => each.matches(source, value)) ?? selectOnlyFormat(formats)
  if (format !== undefined) return format.read(source)
  const what = kind === undefined ? `it is none of ${IMPORT_KINDS.join(', ')}` : `it is no file of ${kind}`
  throw new UserError(`${source.file} is not recognised: ${what}`, {
    place: { file: source.file },
    fix: 'docs/import-and-export.md lists the files that can be imported; --kind names the tool',
  })
}

function importSuite({ text, file }: ImportSource): ImportedFile {
  const { name, values, notes } = mapSuite(text, file)
  const left = notes.map(note => ({ line: null, text: note }))
  return { what: 'AWP suite', name, spec: values, ideas: [], results: [], left }
}

/** A person who names the tool is believed where that tool has one format: its importer names what is missing. */
function selectOnlyFormat(formats: readonly Format[]): Format | undefined {
  return formats.length === 1 ? formats[0] : undefined
}

/** Scripts, Markdown and tables are no data. A file that says it is YAML or JSON has to be. */
function readValue(source: ImportSource): unknown {
  const { file, text } = source
  const json = parseJson(text)
  if (json !== undefined || text.startsWith('#!')) return json
  if (/\.(?:ya?ml|json)$/i.test(file)) return new DataFile(source).value
  return /^[\w-]+:(?:\s|$)/m.test(text) && !text.startsWith('---\n') ? parseLoosely(source) : null
}

function parseLoosely(source: ImportSource): unknown {
  try {
    return new DataFile(source).value
  } catch (error) {
    if (error instanceof UserError) return null
    throw error
  }
}

// Specs

interface DraftedSpec {
  text: string
  /** The file that errors and leftovers belong to. */
  file: string
  left: Leftover[]
}

function buildSpecText(
  all: readonly (ImportedFile & { file: string })[],
  { name, direction }: { name: string; direction: string | undefined },
): DraftedSpec | null {
  const own = all.find(each => each.specText !== undefined)
  if (own?.specText !== undefined) {
    if (direction !== undefined) throw createDirectionError(`${own.file} says which way its metric is better`)
    return { text: own.specText, file: own.file, left: [] }
  }
  const parts = all.filter(each => Object.keys(each.spec).length > 0)
  const merged = parts.reduce<Record<string, unknown>>((into, { spec }) => mergeParts(into, spec), {})
  const file = parts.find(each => hasCommand(each.spec))?.file
  if (file === undefined) {
    if (direction !== undefined) throw createDirectionError('the files do not say how to measure')
    return null
  }
  const metric = isRecord(merged['metric']) ? merged['metric'] : {}
  const primary = isRecord(metric['primary']) ? metric['primary'] : {}
  const metricName = String(primary['name'])
  const way = primary['direction'] ?? direction
  if (direction !== undefined && direction !== way)
    throw new UserError(`--direction ${direction} contradicts the way in which ${metricName} is better`, {
      place: { file },
      fix: 'leave it out, or correct the file',
    })
  if (way === undefined)
    throw new UserError(`${file} does not say which way ${metricName} is better`, {
      place: { file },
      fix: 'give --direction minimize or --direction maximize',
    })
  const { left, gates } = addMissingGate(merged, metricName)
  const values = {
    winnow: 1,
    name,
    ...merged,
    metric: { ...metric, primary: { ...primary, direction: way }, ...gates },
  }
  const head = [
    `# yaml-language-server: $schema=${SCHEMA_URL}`,
    `# Imported from ${parts.map(each => `${each.file} (${each.what})`).join(', ')}.`,
  ]
  return { text: `${head.join('\n')}\n${stringify(orderSections(values), { lineWidth: 100 })}`, file, left }
}

function createDirectionError(why: string): UserError {
  return new UserError(`--direction has no effect: ${why}`, { fix: 'leave it out' })
}

function hasCommand({ measurement }: Record<string, unknown>): boolean {
  return isRecord(measurement) && measurement['command'] !== undefined
}

/** Mappings are merged, lists are joined, and the first file that says something decides. */
function mergeParts(into: Record<string, unknown>, more: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...into }
  for (const [key, value] of Object.entries(more)) {
    const there = merged[key]
    if (isRecord(there) && isRecord(value)) merged[key] = mergeParts(there, value)
    else if (Array.isArray(there) && Array.isArray(value))
      merged[key] = [...there, ...value.filter(one => !there.includes(one))]
    else merged[key] = there ?? value
  }
  return merged
}

/** A spec needs a gate. Without one, the least that can be required is that the metric is a number. */
function addMissingGate(
  { gates, metric }: Record<string, unknown>,
  name: string,
): { gates: Record<string, unknown>; left: Leftover[] } {
  const checks = isRecord(metric) ? [metric['degenerate_gates'], metric['constraints']] : []
  // metric.loss.missing says what a task counts that prints nothing.
  const isLoss = isRecord(metric) && isRecord(metric['primary']) && metric['primary']['type'] === 'loss'
  if (isLoss || [gates, ...checks].some(list => Array.isArray(list) && list.length > 0))
    return { gates: {}, left: [] }
  const check = { name, check: '>= -1e300', description: `${name} is printed, and is a number` }
  return {
    gates: { degenerate_gates: [check] },
    left: [
      {
        line: null,
        text: 'gates: the file has none, so a broken result is noticed only where it prints no number; add a check that it fails',
      },
    ],
  }
}

const SECTION_ORDER = ['winnow', 'name', 'description', 'metric', 'measurement', 'gates', 'scope']

function orderSections(values: Record<string, unknown>): Record<string, unknown> {
  const rank = (key: string) =>
    SECTION_ORDER.includes(key) ? SECTION_ORDER.indexOf(key) : SECTION_ORDER.length
  return Object.fromEntries(Object.entries(values).toSorted(([a], [b]) => rank(a) - rank(b)))
}

/** Removes the keys that winnow does not know or cannot act on, so that the spec can run. */
function fitSpec(
  text: string,
  { file, path }: { file: string; path: string },
): { text: string; left: Leftover[] } {
  const document = parseDocument(text)
  const left: Leftover[] = []
  for (const { path: key, line } of findUnknownKeys(text, file)) {
    document.deleteIn(splitKeyPath(key))
    left.push({ line, text: `${key}: winnow does not know this key` })
  }
  const known = left.length === 0 ? text : document.toString({ lineWidth: 0 })
  const { spec } = parseSpec(known, { file: left.length === 0 ? file : path })
  const planned = new Set(listPlannedKeyPaths('local'))
  for (const sentence of listPlannedFeatures(spec)) {
    const key = /^[\w.]+/.exec(sentence)?.[0] ?? ''
    const line = new DataFile({ file, text }).findLine(splitKeyPath(key))
    if (planned.has(key)) document.deleteIn(splitKeyPath(key))
    left.push({
      line,
      text: planned.has(key) ? sentence : `${sentence} winnow run refuses the spec until then`,
    })
  }
  const fitted = left.length === 0 ? text : document.toString({ lineWidth: 0 })
  parseSpec(fitted, { file: path })
  return { text: fitted, left }
}

/** Any other problem is for the person to solve. */
function findUnknownKeys(text: string, file: string): { path: string; line: number }[] {
  try {
    parseSpec(text, { file })
    return []
  } catch (error) {
    if (!(error instanceof SpecErrors) || error.problems.some(({ found }) => found !== UNKNOWN_KEY))
      throw error
    return error.problems.map(({ path, line }) => ({ path, line }))
  }
}

function splitKeyPath(path: string): (string | number)[] {
  return path
    .split(/[.[\]]+/)
    .flatMap(part => (part === '' ? [] : [/^\d+$/.test(part) ? Number(part) : part]))
}

function dedupeIdeas(ideas: readonly IdeaText[]): IdeaText[] {
  return [...new Map(ideas.map(idea => [normalizeHypothesis(idea.hypothesis), idea])).values()]
}
