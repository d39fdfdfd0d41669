import { isForeign, type ProjectFiles } from './project-files.ts'

const TESTS =
  /(?:^|\/)(?:tests?|specs?|__tests__|bench|benches|benchmarks?|perf|docs?|scripts|e2e)\/|(?:^|\/)(?:tests?|specs?|bench|benchmark|(?:run|all)[._-]?tests?|test_[^/]+|conftest|setup|noxfile|[^/]*[._-](?:test|spec|bench)|Rakefile|[^/]*\.config)\.[^/]+$/

/** Files of these endings that are the project's own code, neither tests nor tools. */
export function sourceFiles({ paths }: ProjectFiles, endings: RegExp): string[] {
  return paths.filter(path => endings.test(path) && !TESTS.test(path) && !isForeign(path))
}

/** The directories that hold the sources; files where they lie at the top. */
export function placesOf(sources: readonly string[], preferred: readonly string[]): string[] {
  const [home] = preferred.filter(place => sources.some(path => path.startsWith(place)))
  if (home !== undefined) return [home]
  const tops = sources.map(path => (path.includes('/') ? `${path.slice(0, path.indexOf('/'))}/` : path))
  const count = (top: string) => tops.filter(each => each === top).length
  return [...new Set(tops)].toSorted((a, b) => count(b) - count(a) || (a < b ? -1 : 1)).slice(0, 6)
}

/** Tests below what may change: whoever may change those as well may weaken the gate. */
export function testsAmong(
  { paths }: ProjectFiles,
  mutable: readonly string[],
  kinds: readonly { pattern: string; matches: RegExp }[],
): string[] {
  const below = paths.filter(path => mutable.some(place => place.includes('*') || path.startsWith(place)))
  return kinds.filter(({ matches }) => below.some(path => matches.test(path))).map(({ pattern }) => pattern)
}
