import { z } from 'zod'
import { explainUnknownFormat, findManifestFormat, type ManifestFormat } from './formats.ts'
import { appendToKey, type InstalledPackage, type ManifestReading, NO_PACKAGES } from './manifest-format.ts'
import {
  type AddedPackage,
  dedupePackages,
  type DependencyChange,
  type Ecosystem,
  isPackageName,
  listAddedPackages,
  type ManifestFault,
  type PackageEntry,
  toPackageKey,
} from './package.ts'

export interface ManifestFile {
  path: string
  base: Uint8Array | null
  candidate: Uint8Array | null
}

/**
 * Lists everything that the candidate would install and the base would not. `files` holds each manifest or
 * lockfile that differs; null where one side lacks it. It may also hold unchanged manifests, which tell what
 * is direct.
 */
export function compareDependencies(files: readonly ManifestFile[]): DependencyChange {
  const changes = files.map(file => ({ path: file.path, ...compareManifest(file) }))
  const direct = new Set(
    changes.flatMap(({ ecosystem, wanted }) => wanted.map(name => `${ecosystem} ${name}`)),
  )
  const additions: AddedPackage[] = []
  const faults: ManifestFault[] = []
  let removals = 0
  for (const { path, ecosystem, added, brings, removed, fault } of changes) {
    removals += removed
    if (fault !== null) faults.push({ path, fault })
    if (ecosystem === null) continue
    for (const each of added) {
      const isDirect = each.direct ?? (direct.has(`${ecosystem} ${each.name}`) || null)
      const more = isDirect === false ? {} : { brings: brings(each) }
      additions.push({ ...each, direct: isDirect, ecosystem, ...more, path })
    }
  }
  const manifests = new Set(changes.filter(({ wanted }) => wanted.length > 0).map(({ path }) => path))
  return { additions: addTransitiveCounts(additions, manifests), removals, faults }
}

/** A manifest only names a package, so its count of transitive packages comes from the lockfile. */
function addTransitiveCounts(
  additions: readonly AddedPackage[],
  manifests: ReadonlySet<string>,
): AddedPackage[] {
  const knownCounts = new Map<string, Set<number>>()
  for (const { ecosystem, name, brings, direct } of additions) {
    if (direct === false || typeof brings !== 'number') continue
    const key = `${ecosystem} ${name}`
    knownCounts.set(key, (knownCounts.get(key) ?? new Set()).add(brings))
  }
  return additions.map(each => {
    const counts = knownCounts.get(`${each.ecosystem} ${each.name}`)
    const [only] = counts ?? []
    const isCertain = each.brings === null && manifests.has(each.path) && counts?.size === 1
    return isCertain && only !== undefined ? { ...each, brings: only } : each
  })
}

// Comparison of one file

interface ManifestChange {
  ecosystem: Ecosystem | null
  added: readonly PackageEntry[]
  /** Counts the other packages that come with one of them. Null: the file does not say. */
  brings: (added: PackageEntry) => number | null
  removed: number
  fault: string | null
  /** Names that a manifest asks for, changed or not. */
  wanted: readonly string[]
}

const MAX_BYTES = 16 * 1024 * 1024
const MOST_PLACES_SHOWN = 3

function compareManifest(file: ManifestFile): ManifestChange {
  const format = findManifestFormat(file.path)
  const { base: before, candidate: after } = file
  const unchanged = before === null || after === null ? before === after : Buffer.compare(before, after) === 0
  if (format === undefined) {
    const fault = unchanged ? null : formatUnreadable(explainUnknownFormat(file.path))
    return { ecosystem: null, added: [], brings: getUnknownCount, removed: 0, fault, wanted: [] }
  }
  const base = readSide(format, before)
  const candidate = readSide(format, after)
  const { ecosystem } = format
  const wanted = format.kind === 'manifest' ? candidate.reading.packages.map(({ name }) => name) : []
  const same = { ecosystem, added: [], brings: getUnknownCount, removed: 0, fault: null, wanted }
  if (unchanged) return same
  const problem = candidate.problem ?? base.problem
  if (problem !== null) return { ...same, fault: problem }
  const added = listAddedPackages(base.reading.packages, candidate.reading.packages)
  return {
    ...same,
    added,
    brings: createTransitiveCounter(candidate.reading.installed, added),
    removed: listAddedPackages(candidate.reading.packages, base.reading.packages).length,
    fault: findManifestFault(file, format, { base: base.reading, candidate: candidate.reading }, added),
  }
}

function getUnknownCount(): null {
  return null
}

type ManifestSide = { reading: ManifestReading; problem: string | null }

/** A file that does not parse yields no packages and a problem, so that it cannot be approved. */
function readSide(format: ManifestFormat, bytes: Uint8Array | null): ManifestSide {
  if (bytes === null) return { reading: NO_PACKAGES, problem: null }
  if (bytes.length > MAX_BYTES) return { reading: NO_PACKAGES, problem: formatUnreadable('it is too large') }
  try {
    const reading = format.read(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return { reading: { ...reading, packages: dedupePackages(reading.packages) }, problem: null }
  } catch (error) {
    return { reading: NO_PACKAGES, problem: formatUnreadable(`it ${describeParseError(error)}`) }
  }
}

function formatUnreadable(why: string): string {
  return `cannot be read, so nothing in it can be approved: ${why}`
}

function describeParseError(error: unknown): string {
  if (error instanceof z.ZodError) {
    const [issue] = error.issues
    return `does not have the form that its tool writes at ${issue?.path.join('.') ?? '?'}: ${issue?.message ?? 'unknown'}`
  }
  if (error instanceof Error && error.name === 'Unreadable') return error.message
  return `does not parse (${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)})`
}

function findManifestFault(
  file: ManifestFile,
  { ecosystem, kind }: ManifestFormat,
  { base, candidate }: { base: ManifestReading; candidate: ManifestReading },
  added: readonly PackageEntry[],
): string | null {
  if (kind === 'lockfile' && file.candidate === null)
    return 'is deleted, so no file states the installed versions any more'
  const invalid = added.find(({ name }) => !isPackageName(ecosystem, name))
  if (invalid !== undefined)
    return `names a package ${JSON.stringify(invalid.name)}, which no ${ecosystem} package can be called`
  const places = [...new Set([...base.rest.keys(), ...candidate.rest.keys()])]
  const changed = places.filter(place => base.rest.get(place) !== candidate.rest.get(place))
  if (changed.length === 0) return null
  const more = changed.length > MOST_PLACES_SHOWN ? ` and ${changed.length - MOST_PLACES_SHOWN} more` : ''
  const named = `${changed.slice(0, MOST_PLACES_SHOWN).join(', ')}${more}`
  return `changes ${named}: only dependencies may change in this file`
}

// Transitive packages

/** The author of a lockfile chooses its size. After this many steps the remaining counts are unknown. */
const MOST_STEPS = 500_000

/**
 * Counts how many of the other added packages come with one of them, following the needs in the lockfile.
 * Null: the lockfile does not say. A package that two of them need counts for both, because removing one
 * would not remove it.
 */
function createTransitiveCounter(
  installed: ReadonlyMap<string, InstalledPackage> | undefined,
  added: readonly PackageEntry[],
): (each: PackageEntry) => number | null {
  const isAdded = new Set(added.map(toPackageKey))
  const places = new Map<string, string[]>()
  for (const [place, { package: found }] of installed ?? []) {
    if (found === null) continue
    appendToKey(places, toPackageKey(found), [place])
  }
  let steps = 0
  return each => {
    const start = places.get(toPackageKey(each))
    if (installed === undefined || start === undefined || steps > MOST_STEPS) return null
    const seen = new Set(start)
    const found = new Set([toPackageKey(each)])
    const pending = [...start]
    for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
      const { needs = [] } = installed.get(place) ?? {}
      if (needs === null) return null
      for (const needed of needs) {
        if (++steps > MOST_STEPS) return null
        const other = installed.get(needed)
        if (other === undefined || seen.has(needed)) continue
        const name = other.package && toPackageKey(other.package)
        if (name !== null && !isAdded.has(name)) continue
        seen.add(needed)
        if (name !== null) found.add(name)
        pending.push(needed)
      }
    }
    return found.size - 1
  }
}
