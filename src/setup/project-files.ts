import { parse as parseToml, TomlError } from 'smol-toml'

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
