import { parse as parseToml, TomlError } from 'smol-toml'
import { parse as parseYaml, YAMLParseError } from 'yaml'
import type { Spec } from '../spec/schema.ts'

export const LANGUAGES = ['node', 'python', 'go', 'rust', 'java', 'ruby', 'c', 'shell', 'text'] as const
export type Language = (typeof LANGUAGES)[number]
/** Languages with a benchmark skeleton. A text has none: a model judges it. */
export type ProgramLanguage = Exclude<Language, 'text'>

export type OutputFormat = Spec['measurement']['output']

export interface FoundCommand {
  command: string
  /** Describes the source for people: `scripts.bench of package.json`. */
  from: string
}

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

export type EntryPoint =
  | { kind: 'module'; path: string }
  | { kind: 'function'; module: string; name: string }
  | { kind: 'program'; command: string }

/** Detection results for one language in one directory. Paths are relative to that directory. */
export interface Findings {
  language: Language
  /** npm, uv, cargo, …; null: no installation. */
  manager: string | null
  setup: FoundCommand | null
  test: FoundCommand | null
  bench: FoundBenchmark | null
  mutable: string[]
  /** Tests inside mutable directories. */
  immutable: string[]
  entry: EntryPoint | null
  /**
   * The file that people download, and the command that builds it. If the file is not committed, the setup
   * runs that command.
   */
  product?: { path: string; build: string }
  /** Prompts, skills and other texts, the most likely one first. Only for the language `text`. */
  texts?: readonly string[]
  interpreter: string
  /** Number of source files. Decides which of several languages is the main one. */
  weight: number
  notes: string[]
}

/** The findings of one language; the rest is absent. */
export type Detection = Pick<Findings, 'mutable' | 'interpreter' | 'weight'> & Partial<Findings>

export interface ProjectLocation {
  /** Paths relative to the project's directory. */
  files: ProjectFiles
  /** Paths relative to the top of the repository. */
  repository: ProjectFiles
  /** The project's directory. Empty: the top of the repository. */
  directory: string
}

/** The committed files of a directory. Detection reads no other files. */
export interface ProjectFiles {
  /** Relative to the directory. */
  readonly paths: readonly string[]
  /** Null: the file does not exist, or detection does not read it. */
  text(path: string): string | null
}

export function createProjectFiles(
  paths: readonly string[],
  texts: ReadonlyMap<string, string>,
): ProjectFiles {
  return { paths, text: path => texts.get(path) ?? null }
}

/** Empty directory: all files. */
export function narrowToDirectory(files: ProjectFiles, directory: string): ProjectFiles {
  if (directory === '') return files
  const start = `${directory}/`
  const paths = files.paths.flatMap(path => (path.startsWith(start) ? [path.slice(start.length)] : []))
  return { paths, text: path => files.text(start + path) }
}

// Files to read

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
const MOST_FILES = 600
/** Benchmarks in directories of examples. */
const EXAMPLE = /^examples?\/bench[^/]*\/[^/]+$/

/** Selects the files whose content detection reads. It knows all others by name only. */
export function selectPathsToRead(paths: readonly string[]): string[] {
  const manifests = paths.filter(
    path => (!isForeign(path) || EXAMPLE.test(path)) && READ.some(pattern => pattern.test(path)),
  )
  const texts = manifests.length === 0 ? listTexts(paths) : listPrompts(paths)
  return [...new Set([...manifests, ...texts])].slice(0, MOST_FILES)
}

const FOREIGN =
  /(?:^|\/)(?:node_modules|vendor|third_party|\.[^/]+|dist|target|testdata|fixtures?|examples?|__fixtures__)\//

export function isForeign(path: string): boolean {
  return FOREIGN.test(path)
}

// Manifests

type ManifestTable = Readonly<Record<string, unknown>>

export function isTable(value: unknown): value is ManifestTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Undefined: a key is missing. */
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

/** Null for a manifest that does not parse. Its own tool reports the error. */
export function readJsonManifest(files: ProjectFiles, path: string): ManifestTable | null {
  return parseManifest(files, path, JSON.parse, SyntaxError)
}

export function readTomlManifest(files: ProjectFiles, path: string): ManifestTable | null {
  return parseManifest(files, path, parseToml, TomlError)
}

export function readYamlManifest(files: ProjectFiles, path: string): ManifestTable | null {
  return parseManifest(files, path, parseYaml, YAMLParseError)
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

// Sources, tests and settings

const TESTS =
  /(?:^|\/)(?:tests?|specs?|__tests__|bench|benches|benchmarks?|perf|docs?|scripts|tools|fuzz(?:ing)?|e2e)\/|(?:^|\/)(?:tests?|specs?|bench|benchmarks?|perf|examples?|demo|(?:run|all)[._-]?tests?|test_[^/]+|conftest|setup|noxfile|[^/]*[._-](?:test|spec|bench)|Rakefile|[Gg]ulpfile|[Gg]runtfile|[^/]*\.conf(?:ig)?)\.[^/]+$/
/** Dotfiles configure tools, for example `.eslintrc.js`. */
const DOTFILE = /(?:^|\/)\.[^/]+$/

/** Prompts, skills and other texts that a model reads. */
export const PROSE = /\.(?:md|mdx|txt|prompt|jinja2?|j2)$/

const SKILL = /(?:^|\/)SKILL\.md$/
const PROMPT = /(?:^|\/)prompts?\/|\.prompt(?:\.\w+)?$|(?:^|\/)(?:system[-_])?prompt[^/]*$/i
/** Coding agents keep skills and prompts here. All other directories with a dot are foreign. */
const AGENT_DIRECTORY = /^\.(?:agents|claude|codex|gemini)\//
/** Texts about the project, for people. */
const ABOUT =
  /(?:^|\/)(?:readme|changelog|changes|history|contributing|code_of_conduct|security|licen[cs]e|notice|authors|requirements[^/]*|robots)(?:\.\w+)*$/i
const MOST_TEXTS = 40

/** Skills first, then prompts. Without either, all texts that are not about the project itself. */
export function listTexts(paths: readonly string[]): string[] {
  const prompts = listPrompts(paths)
  return prompts.length > 0 ? prompts : listOwnTexts(paths).slice(0, MOST_TEXTS)
}

export function listPrompts(paths: readonly string[]): string[] {
  const own = listOwnTexts(paths)
  const skills = own.filter(path => SKILL.test(path))
  return [...skills, ...own.filter(path => !SKILL.test(path) && PROMPT.test(path))].slice(0, MOST_TEXTS)
}

function listOwnTexts(paths: readonly string[]): string[] {
  return paths.filter(
    path => PROSE.test(path) && !ABOUT.test(path) && !isForeign(path.replace(AGENT_DIRECTORY, '')),
  )
}

export function listSourceFiles({ paths }: ProjectFiles, endings: RegExp): string[] {
  return paths.filter(
    path => endings.test(path) && !TESTS.test(path) && !DOTFILE.test(path) && !isForeign(path),
  )
}

const MOST_PLACES = 12

/**
 * Returns directories of sources, or files for sources at the top. The places of `first` always come first.
 */
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

/** Dotfiles below mutable paths configure tools, so they are immutable. */
export const DOTFILES = { pattern: '**/.*', matches: DOTFILE }

/** Selects what exists below mutable paths. A campaign that may change tests could weaken its own gate. */
export function listImmutablePatterns(
  { paths }: ProjectFiles,
  mutable: readonly string[],
  kinds: readonly { pattern: string; matches: RegExp }[],
): string[] {
  const below = paths.filter(path => mutable.some(place => place.includes('*') || path.startsWith(place)))
  return kinds.filter(({ matches }) => below.some(path => matches.test(path))).map(({ pattern }) => pattern)
}

// Directories above the project

/**
 * Finds the nearest of these files, from the project's directory up to the top of the repository. `steps` is
 * the number of directories above the project's.
 */
export function findNearestAbove(
  { repository, directory }: ProjectLocation,
  names: readonly string[],
): { name: string; steps: number } | null {
  const known = new Set(repository.paths)
  const folders = directory === '' ? [] : directory.split('/')
  for (let steps = 0; steps <= folders.length; steps++) {
    const above = folders.slice(0, folders.length - steps)
    const name = names.find(each => known.has([...above, each].join('/')))
    if (name !== undefined) return { name, steps }
  }
  return null
}

/** The command has a shell of its own, so it does not have to change back. */
export function runAbove(steps: number, command: string): string {
  return steps === 0 ? command : `cd ${'../'.repeat(steps).slice(0, -1)} && ${command}`
}
