import type { Release } from '../ports.ts'
import type { Ecosystem } from './addition.ts'

/** How each lockfile writes what an installer compares a file with; anything weaker, or of its own making, is none. */
const HASHES: Partial<Record<Ecosystem, RegExp>> = {
  npm: /^sha512-[A-Za-z\d+/]+=*$/,
  cargo: /^[\da-f]{64}$/,
  pypi: /^sha256:[\da-f]{64}$/,
  rubygems: /^sha256=[\da-f]{64}$/,
  go: /^(?:go\.mod )?h1:[A-Za-z\d+/]+=*$/,
}

/** An SRI text may name weaker hashes beside the one that counts; after # yarn writes the hash of the file once more. */
const BESIDE_IN_NPM = /^(?:sha(?:1|256|384)-[A-Za-z\d+/]+=*|#[\da-f]+)$/

/** From there files are fetched, and compared before they are used; the rest of a git, path or bundled source is not. */
const FETCHED = /^(?:registry|(?:sparse\+)?https?:\/\/\S+)$/
const INDEX_NAME = /^[\w-]+$/

/**
 * The hashes of every file that may be installed for it. Empty where the lockfile has none that a registry publishes
 * as well, so that nobody could tell this package from another of its name.
 */
export function listReleaseHashes({ ecosystem, source, integrity, files }: Release): readonly string[] {
  const hash = Object.hasOwn(HASHES, ecosystem) ? HASHES[ecosystem as Ecosystem] : undefined
  if (hash === undefined || integrity === null || !isFetched(ecosystem, source)) return []
  if (ecosystem === 'go') return hash.test(integrity) ? [integrity] : []
  const written = files ?? integrity.split(/[\s,]+/)
  const counting = ecosystem === 'npm' ? written.filter(each => !BESIDE_IN_NPM.test(each)) : written
  return counting.every(each => hash.test(each)) ? counting : []
}

export function isFetched(ecosystem: string, source: string): boolean {
  const place = source.replace(/, (?:installed as|in place of) .*$/, '')
  // Pipenv names the index as the Pipfile does.
  return FETCHED.test(place) || (ecosystem === 'pypi' && INDEX_NAME.test(place))
}
