import { z } from 'zod'
import type { Ecosystem, PackageEntry } from './addition.ts'
import { listAddedPackages, dedupePackages } from './added-packages.ts'
import { createTransitiveCounter } from './brought.ts'
import { type ManifestFormat, NO_PACKAGES, type ManifestReading } from './format.ts'
import { findManifestFormat, explainUnknownFormat } from './formats.ts'
import { isPackageName } from './package-name.ts'

export interface ManifestFile {
  path: string
  base: Uint8Array | null
  candidate: Uint8Array | null
}

export interface ManifestChange {
  ecosystem: Ecosystem | null
  added: readonly PackageEntry[]
  /** How many other packages come with one of them; null: the file does not say. */
  brings: (added: PackageEntry) => number | null
  removed: number
  fault: string | null
  /** What a manifest asks for by name, changed or not. */
  wanted: readonly string[]
}

const MAX_BYTES = 16 * 1024 * 1024
const NAMED = 3

export function compareManifest(file: ManifestFile): ManifestChange {
  const format = findManifestFormat(file.path)
  const unchanged = isSame(file)
  if (format === undefined) {
    const fault = unchanged ? null : formatUnreadable(explainUnknownFormat(file.path))
    return { ecosystem: null, added: [], brings: getUnknownCount, removed: 0, fault, wanted: [] }
  }
  const base = readSide(format, file.base)
  const candidate = readSide(format, file.candidate)
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

function isSame({ base, candidate }: ManifestFile): boolean {
  if (base === null || candidate === null) return base === candidate
  return Buffer.compare(base, candidate) === 0
}

type ManifestSide = { reading: ManifestReading; problem: string | null }

/** Whatever a parser says against a file, nothing in it is let through. */
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
    return `is not as its tool writes it at ${issue?.path.join('.') ?? '?'}: ${issue?.message ?? 'unknown'}`
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
    return 'is deleted, so nothing says any more which versions are installed'
  const odd = added.find(({ name }) => !isPackageName(ecosystem, name))
  if (odd !== undefined)
    return `names a package ${JSON.stringify(odd.name)}, which no ${ecosystem} package can be called`
  const places = listChangedPlaces(base.rest, candidate.rest)
  if (places.length === 0) return null
  return `changes ${formatPlaces(places)}: only dependencies may change in this file`
}

function listChangedPlaces(base: ManifestReading['rest'], candidate: ManifestReading['rest']): string[] {
  const places = [...new Set([...base.keys(), ...candidate.keys()])]
  return places.filter(place => base.get(place) !== candidate.get(place))
}

function formatPlaces(places: readonly string[]): string {
  const more = places.length - NAMED
  return `${places.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
