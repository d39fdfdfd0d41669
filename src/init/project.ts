import { parse as parseToml, TomlError } from 'smol-toml'
import type { Spec } from '../spec/schema.ts'

export const LANGUAGES = ['node', 'python', 'go', 'rust', 'java', 'ruby', 'c', 'shell'] as const
export type Language = (typeof LANGUAGES)[number]

export type OutputFormat = Spec['measurement']['output']

export interface FoundCommand {
  command: string
  /** Where it was found, for people: `scripts.bench of package.json`. */
  from: string
}

/** A number that a benchmark is known to print, read from its source. */
export interface PrintedMetric {
  name: string
  direction: 'minimize' | 'maximize'
}

export interface FoundBenchmark extends FoundCommand {
  output: OutputFormat
  /** Null: winnow times the command itself. */
  metric: PrintedMetric | null
  /** The benchmark prints outputs that judges can score. */
  printsItems?: true
}

/** What a harness can call without knowing the project. */
export type EntryPoint =
  | { kind: 'module'; path: string }
  | { kind: 'function'; module: string; name: string }
  | { kind: 'program'; command: string }

/** All that was found in one directory for one language; paths are relative to that directory. */
export interface Findings {
  language: Language
  /** npm, uv, cargo, …; null where nothing is installed. */
  manager: string | null
  setup: FoundCommand | null
  test: FoundCommand | null
  bench: FoundBenchmark | null
  /** What a campaign may change. */
  mutable: string[]
  /** Tests that lie among the sources. */
  immutable: string[]
  entry: EntryPoint | null
  /** The file that people download, and the command that makes it; where it is not committed, the set-up has that. */
  product?: { path: string; build: string }
  /** The command that starts a script of this language. */
  interpreter: string
  /** Source files, to tell the main language of several. */
  weight: number
  notes: string[]
}

/** Where a project lies in its repository. */
export interface ProjectLocation {
  /** Seen from the project's directory. */
  files: ProjectFiles
  /** Seen from the top of the repository. */
  repository: ProjectFiles
  /** The project's directory; '' is the top. */
  directory: string
}

/** The committed files of a directory, as values: detection reads nothing else. */
export interface ProjectFiles {
  /** Relative to the directory. */
  readonly paths: readonly string[]
  /** Null for what does not exist, or is not among what detection reads. */
  text(path: string): string | null
}

export function createProjectFiles(
  paths: readonly string[],
  texts: ReadonlyMap<string, string>,
): ProjectFiles {
  return { paths, text: path => texts.get(path) ?? null }
}

/** The same seen from one of its directories; '' is the whole. */
export function narrowToDirectory(files: ProjectFiles, directory: string): ProjectFiles {
  if (directory === '') return files
  const start = `${directory}/`
  const paths = files.paths.flatMap(path => (path.startsWith(start) ? [path.slice(start.length)] : []))
  return { paths, text: path => files.text(start + path) }
}

const READ = [
  /(?:^|\/)(?:package\.json|pnpm-workspace\.yaml|pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|Cargo\.toml|go\.(?:mod|work))$/,
  /(?:^|\/)(?:requirements[^/]*\.txt|Gemfile|Rakefile|[^/]+\.gemspec|[Mm]akefile|[Jj]ustfile|Taskfile\.ya?ml)$/,
  /(?:^|\/)(?:pom\.xml|build\.gradle(?:\.kts)?)$/,
  /(?:^|\/)(?:bench|benches|benchmark|benchmarks|perf)\/[^/]+$/,
  /(?:^|\/)(?:test_[^/]*|[^/]*_test|[^/]*bench[^/]*)\.(?:py|go)$/,
  /(?:^|\/)(?:[^/]*bench[^/]*|perf)\.[cm]?[jt]sx?$/,
  /(?:^|\/)CMakeLists\.txt$/,
  /^(?:[^/]+\/){0,2}[^/]+\.go$|(?:^|\/)src\/(?:lib|main)\.rs$/,
  /(?:^|\/)src\/main\/java\/.*\.java$/,
]
const MOST = 600
/** Benchmarks that lie among the examples. */
const EXAMPLE = /^examples?\/bench[^/]*\/[^/]+$/

/** Which of a repository's files detection wants to read; everything else is known by its name alone. */
export function selectPathsToRead(paths: readonly string[]): string[] {
  return paths
    .filter(path => (!isForeign(path) || EXAMPLE.test(path)) && READ.some(pattern => pattern.test(path)))
    .slice(0, MOST)
}

const FOREIGN =
  /(?:^|\/)(?:node_modules|vendor|third_party|\.[^/]+|dist|target|testdata|fixtures?|examples?|__fixtures__)\//

/** Copies of other people's code, generated files, and what tests feed on. */
export function isForeign(path: string): boolean {
  return FOREIGN.test(path)
}

type ManifestTable = Readonly<Record<string, unknown>>

export function isTable(value: unknown): value is ManifestTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What lies at a path of keys; undefined where any of them is missing. */
export function getNestedValue(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (inner, key) => (isTable(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  )
}

export function getNestedText(value: unknown, ...keys: readonly string[]): string | null {
  const found = getNestedValue(value, ...keys)
  return typeof found === 'string' && found !== '' ? found : null
}

/** A manifest that cannot be read tells nothing: its own tool says what is wrong with it. */
export function readJsonManifest(files: ProjectFiles, path: string): ManifestTable | null {
  return parseManifest(files, path, JSON.parse, SyntaxError)
}

export function readTomlManifest(files: ProjectFiles, path: string): ManifestTable | null {
  return parseManifest(files, path, parseToml, TomlError)
}

function parseManifest(
  files: ProjectFiles,
  path: string,
  parse: (text: string) => unknown,
  mistake: abstract new (...args: never[]) => Error,
): ManifestTable | null {
  const text = files.text(path)
  if (text === null) return null
  try {
    const value = parse(text.replace(/^\uFEFF/, ''))
    return isTable(value) ? value : null
  } catch (error) {
    if (error instanceof mistake) return null
    throw error
  }
}

const TESTS =
  /(?:^|\/)(?:tests?|specs?|__tests__|bench|benches|benchmarks?|perf|docs?|scripts|tools|fuzz(?:ing)?|e2e)\/|(?:^|\/)(?:tests?|specs?|bench|benchmarks?|perf|examples?|demo|(?:run|all)[._-]?tests?|test_[^/]+|conftest|setup|noxfile|[^/]*[._-](?:test|spec|bench)|Rakefile|[Gg]ulpfile|[Gg]runtfile|[^/]*\.conf(?:ig)?)\.[^/]+$/
/** Settings of tools: `.eslintrc.js` is no code of the project's. */
const DOTFILE = /(?:^|\/)\.[^/]+$/

/** Prompts, skills and other texts that a model reads. */
export const PROSE = /\.(?:md|mdx|txt|prompt|jinja2?|j2)$/

/** Files of these endings that are the project's own code, neither tests nor tools. */
export function listSourceFiles({ paths }: ProjectFiles, endings: RegExp): string[] {
  return paths.filter(
    path => endings.test(path) && !TESTS.test(path) && !DOTFILE.test(path) && !isForeign(path),
  )
}

const MOST_PLACES = 12

/** The directories that hold the sources; files where they lie at the top. `first`: files that must be among them. */
export function selectSourcePlaces(
  sources: readonly string[],
  preferred: readonly string[],
  first: readonly string[] = [],
): string[] {
  const [home] = preferred.filter(place => sources.some(path => path.startsWith(place)))
  if (home !== undefined) return [home]
  const tops = sources.map(getTopDirectory)
  const wanted = first.map(getTopDirectory)
  const count = (top: string) => tops.filter(each => each === top).length
  const rank = (top: string) => (wanted.includes(top) ? 0 : 1)
  return [...new Set(tops)]
    .toSorted((a, b) => rank(a) - rank(b) || count(b) - count(a) || (a < b ? -1 : 1))
    .slice(0, MOST_PLACES)
}

function getTopDirectory(path: string): string {
  return path.includes('/') ? `${path.slice(0, path.indexOf('/'))}/` : path
}

/** Dotfiles below what may change are settings of tools, and stay as they are. */
export function listDotfilePatterns({ paths }: ProjectFiles, mutable: readonly string[]): string[] {
  const below = paths.filter(path => mutable.some(place => place.includes('*') || path.startsWith(place)))
  return below.some(path => DOTFILE.test(path)) ? ['**/.*'] : []
}

/** Tests below what may change: whoever may change those as well may weaken the gate. */
export function listTestPatterns(
  { paths }: ProjectFiles,
  mutable: readonly string[],
  kinds: readonly { pattern: string; matches: RegExp }[],
): string[] {
  const below = paths.filter(path => mutable.some(place => place.includes('*') || path.startsWith(place)))
  return kinds.filter(({ matches }) => below.some(path => matches.test(path))).map(({ pattern }) => pattern)
}

/** Where the nearest of these files lies, from a project's directory up to the top of its repository. */
export function findNearestAbove(
  { repository, directory }: ProjectLocation,
  names: readonly string[],
): FoundFile | null {
  const there = new Set(repository.paths)
  for (let at: string | null = directory; at !== null; at = getParentDirectory(at)) {
    const name = names.find(each => there.has(at === '' ? each : `${at}/${each}`))
    if (name !== undefined) return { name, directory: at, steps: countStepsUp(directory, at) }
  }
  return null
}

interface FoundFile {
  name: string
  directory: string
  /** How many directories above the project's. */
  steps: number
}

function getParentDirectory(directory: string): string | null {
  if (directory === '') return null
  return directory.includes('/') ? directory.slice(0, directory.lastIndexOf('/')) : ''
}

function countStepsUp(from: string, to: string): number {
  const depth = (directory: string) => (directory === '' ? 0 : directory.split('/').length)
  return depth(from) - depth(to)
}

/** A command that is to run some directories above; it is alone in its shell, so nothing has to go back. */
export function runAbove(steps: number, command: string): string {
  return steps === 0 ? command : `cd ${Array.from({ length: steps }, () => '..').join('/')} && ${command}`
}

/** The same for a command that is not the last of its line. */
export function runAboveAndReturn(steps: number, command: string): string {
  return steps === 0 ? command : `(${runAbove(steps, command)})`
}
