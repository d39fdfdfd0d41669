import { z } from 'zod'
import type { Ecosystem, Package } from './addition.ts'
import { addedPackages, distinct } from './added-packages.ts'
import { broughtWith } from './brought.ts'
import { type Format, NOTHING, type Reading } from './format.ts'
import { formatOf, unknownFormat } from './formats.ts'
import { isPackageName } from './package-name.ts'

export interface ManifestFile {
  path: string
  base: Uint8Array | null
  candidate: Uint8Array | null
}

export interface FileChange {
  ecosystem: Ecosystem | null
  added: readonly Package[]
  /** How many other packages come with one of them; null: the file does not say. */
  brings: (added: Package) => number | null
  removed: number
  fault: string | null
  /** What a manifest asks for by name, changed or not. */
  wanted: readonly string[]
}

const MAX_BYTES = 16 * 1024 * 1024
const NAMED = 3

export function fileChange(file: ManifestFile): FileChange {
  const format = formatOf(file.path)
  const unchanged = isSame(file)
  if (format === undefined) {
    const fault = unchanged ? null : unread(unknownFormat(file.path))
    return { ecosystem: null, added: [], brings: unknown, removed: 0, fault, wanted: [] }
  }
  const base = readSide(format, file.base)
  const candidate = readSide(format, file.candidate)
  const { ecosystem } = format
  const wanted = format.kind === 'manifest' ? candidate.reading.packages.map(({ name }) => name) : []
  const same = { ecosystem, added: [], brings: unknown, removed: 0, fault: null, wanted }
  if (unchanged) return same
  const problem = candidate.problem ?? base.problem
  if (problem !== null) return { ...same, fault: problem }
  const added = addedPackages(base.reading.packages, candidate.reading.packages)
  return {
    ...same,
    added,
    brings: broughtWith(candidate.reading.installed, added),
    removed: addedPackages(candidate.reading.packages, base.reading.packages).length,
    fault: faultOf(file, format, { base: base.reading, candidate: candidate.reading }, added),
  }
}

function unknown(): null {
  return null
}

function isSame({ base, candidate }: ManifestFile): boolean {
  if (base === null || candidate === null) return base === candidate
  return Buffer.compare(base, candidate) === 0
}

type Side = { reading: Reading; problem: string | null }

/** Whatever a parser says against a file, nothing in it is let through. */
function readSide(format: Format, bytes: Uint8Array | null): Side {
  if (bytes === null) return { reading: NOTHING, problem: null }
  if (bytes.length > MAX_BYTES) return { reading: NOTHING, problem: unread('it is too large') }
  try {
    const reading = format.read(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return { reading: { ...reading, packages: distinct(reading.packages) }, problem: null }
  } catch (error) {
    return { reading: NOTHING, problem: unread(`it ${complaint(error)}`) }
  }
}

function unread(why: string): string {
  return `cannot be read, so nothing in it can be approved: ${why}`
}

function complaint(error: unknown): string {
  if (error instanceof z.ZodError) {
    const [issue] = error.issues
    return `is not as its tool writes it at ${issue?.path.join('.') ?? '?'}: ${issue?.message ?? 'unknown'}`
  }
  if (error instanceof Error && error.name === 'Unreadable') return error.message
  return `does not parse (${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)})`
}

function faultOf(
  file: ManifestFile,
  { ecosystem, kind }: Format,
  { base, candidate }: { base: Reading; candidate: Reading },
  added: readonly Package[],
): string | null {
  if (kind === 'lockfile' && file.candidate === null)
    return 'is deleted, so nothing says any more which versions are installed'
  const odd = added.find(({ name }) => !isPackageName(ecosystem, name))
  if (odd !== undefined)
    return `names a package ${JSON.stringify(odd.name)}, which no ${ecosystem} package can be called`
  const places = changedPlaces(base.rest, candidate.rest)
  if (places.length === 0) return null
  return `changes ${listed(places)}: only dependencies may change in this file`
}

function changedPlaces(base: Reading['rest'], candidate: Reading['rest']): string[] {
  const places = [...new Set([...base.keys(), ...candidate.keys()])]
  return places.filter(place => base.get(place) !== candidate.get(place))
}

function listed(places: readonly string[]): string {
  const more = places.length - NAMED
  return `${places.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
