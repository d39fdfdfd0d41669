import { isForeign, type ProjectFiles } from './project-files.ts'

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
