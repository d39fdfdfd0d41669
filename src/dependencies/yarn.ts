import { z } from 'zod'
import { appendToKey, type InstalledPackage, type ManifestReading, Unreadable } from './manifest-format.ts'
import { getRegistryAddress, parseNpmRange } from './npm.ts'
import { buildPackage, type PackageEntry } from './package.ts'
import { parseYamlTree } from './text-formats.ts'

export function readYarnLock(text: string): ManifestReading {
  const isBerry = /^__metadata:\s*$/m.test(text)
  if (isBerry && /^#.*yarn lockfile v1/im.test(text)) throw new Unreadable('says it is of two versions')
  const entries = isBerry ? parseBerryEntries(text) : parseYarnClassic(text).map(toClassicInstall)
  const packages = entries.flatMap(({ found }) => found.map(each => each.package))
  return { packages, rest: new Map(), installed: collectYarnInstalls(entries) }
}

// Classic format

/** One block of a classic yarn.lock: the descriptors that ask for a package, and the package. */
interface YarnEntry {
  descriptors: string[]
  fields: Map<string, string>
  wanted: [name: string, range: string][]
}

const TEXT = String.raw`"(?:[^"\\]|\\["\\])*"|[^\s",:#][^\s",:]*`
const HEAD = new RegExp(`^(?:${TEXT})(?:, (?:${TEXT}))*:$`)
const FIELD = new RegExp(`^  (version|resolved|integrity|uid) (${TEXT}|[^\\s",]+)$`)
const SECTION = /^ {2}(?:dependencies|optionalDependencies):$/
const MEMBER = new RegExp(`^    (${TEXT}) (${TEXT}|[^\\s",]+)$`)

/**
 * Accepts only lines as yarn writes them. Yarn's own reader accepts more, with results that winnow cannot
 * predict.
 */
function parseYarnClassic(text: string): YarnEntry[] {
  const entries: YarnEntry[] = []
  const seen = new Set<string>()
  for (const line of text.split(/\r?\n/)) {
    if (line === '' || line.startsWith('#')) continue
    const entry = entries.at(-1)
    if (HEAD.test(line)) {
      const descriptors = [...line.matchAll(new RegExp(TEXT, 'g'))].map(([text]) => unquoteYarnText(text))
      for (const descriptor of descriptors) {
        if (seen.has(descriptor)) throw new Unreadable(`answers ${JSON.stringify(descriptor)} twice`)
        seen.add(descriptor)
      }
      entries.push({ descriptors, fields: new Map(), wanted: [] })
    } else if (entry === undefined || !readInnerLine(line, entry)) {
      throw new Unreadable(`has a line that yarn does not write: ${JSON.stringify(line.slice(0, 80))}`)
    }
  }
  return entries
}

/** False for a line that yarn does not write. */
function readInnerLine(line: string, { fields, wanted }: YarnEntry): boolean {
  const [, key, value] = FIELD.exec(line) ?? []
  const [, name, range] = MEMBER.exec(line) ?? []
  if (key !== undefined && value !== undefined) {
    if (fields.has(key)) throw new Unreadable(`has two ${key} in one entry`)
    fields.set(key, unquoteYarnText(value))
    return true
  }
  if (name === undefined || range === undefined) return SECTION.test(line)
  wanted.push([unquoteYarnText(name), unquoteYarnText(range)])
  return true
}

function unquoteYarnText(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replace(/\\(["\\])/g, '$1') : text
}

function toClassicInstall({ descriptors, fields, wanted }: YarnEntry): YarnInstall {
  const version = fields.get('version')
  if (version === undefined) throw new Unreadable(`has no version for ${descriptors.join(', ')}`)
  // The part after # is the hash of the file, or the commit.
  const [, url, hash] = /^([^#]*)(#.*)?$/.exec(fields.get('resolved') ?? '') ?? []
  const integrity = [fields.get('integrity'), hash].filter(each => each !== undefined).join(' ') || null
  const found = descriptors.map(descriptor => {
    const { name: alias, rest } = splitDescriptor(descriptor)
    // An alias `b` for package `a` installs `a`. Without an alias `b` is another package, even with the same files.
    const { name } = parseNpmRange(alias, rest)
    const address = url ? getRegistryAddress(name, version, url) : 'registry'
    const source = formatAliasedSource(alias, name, address)
    return { descriptor, package: buildPackage({ name, version, source, integrity }) }
  })
  return { found, wanted: wanted.map(([name, range]) => [`${name}@${range}`]) }
}

// Needs

interface YarnInstall {
  found: readonly { descriptor: string; package: PackageEntry }[]
  /** Each need, in every way in which its descriptor may be written. */
  wanted: readonly (readonly string[])[]
}

/**
 * Yarn resolves a need by its descriptor `name@range`, which is the key of an entry. Without such an entry
 * the project's resolutions replace the package, and the file does not say by which one.
 */
function collectYarnInstalls(entries: readonly YarnInstall[]): Map<string, InstalledPackage> {
  const descriptors = entries.flatMap(({ found }) => found.map(({ descriptor }) => descriptor))
  const places = new Set(descriptors)
  const patched = findYarnPatches(descriptors)
  function resolveNeeds(wanted: YarnInstall['wanted']): string[] | null {
    const needs: string[] = []
    for (const spellings of wanted) {
      const place = spellings.find(each => places.has(each))
      if (place === undefined) return null
      needs.push(place, ...(patched.get(place) ?? []))
    }
    return needs
  }
  const installed = new Map<string, InstalledPackage>()
  for (const { found, wanted } of entries) {
    const needs = resolveNeeds(wanted)
    for (const { descriptor, package: each } of found) {
      const origin = getPatchOrigin(descriptor)
      const all = origin === null ? needs : resolveNeeds([...wanted, listDescriptorSpellings(origin)])
      installed.set(descriptor, { package: each, needs: all })
    }
  }
  return installed
}

/**
 * A package that asks for a patched package gets the patched entry, whose files come from the original one.
 */
function findYarnPatches(descriptors: readonly string[]): Map<string, string[]> {
  const patches = new Map<string, string[]>()
  for (const descriptor of descriptors) {
    const origin = getPatchOrigin(descriptor)
    for (const spelling of origin === null ? [] : listDescriptorSpellings(origin)) {
      appendToKey(patches, spelling, [descriptor])
    }
  }
  return patches
}

// Berry format

const wanted = z.record(z.string(), z.string()).default({})
const berryEntry = z.object({
  version: z.string(),
  resolution: z.string(),
  checksum: z.string().optional(),
  dependencies: wanted,
})
type BerryEntry = z.infer<typeof berryEntry>

function parseBerryEntries(text: string): YarnInstall[] {
  const { __metadata: _, ...members } = parseYamlTree(text)
  const entries = Object.entries(z.record(z.string(), berryEntry).parse(members))
  const own = entries.filter(([, { resolution }]) =>
    splitDescriptor(resolution).rest.startsWith('workspace:'),
  )
  const direct = new Set(own.flatMap(([, each]) => listBerryNeeds(each).flat()))
  return entries.map(([key, each]) => {
    const descriptors = key.split(', ')
    const isDirect = descriptors.some(descriptor => direct.has(descriptor))
    return { found: listBerryPackages(descriptors, each, isDirect), wanted: listBerryNeeds(each) }
  })
}

function listBerryNeeds({ dependencies }: BerryEntry): string[][] {
  return Object.entries(dependencies).map(([name, range]) => listDescriptorSpellings(`${name}@${range}`))
}

function listBerryPackages(
  descriptors: readonly string[],
  { resolution, version, checksum }: BerryEntry,
  direct: boolean,
): YarnInstall['found'] {
  const { name, rest: reference } = splitDescriptor(resolution)
  if (reference === 'workspace:.') return []
  const source = reference === `npm:${version}` ? 'registry' : reference
  return descriptors.map(descriptor => {
    const installed = formatAliasedSource(splitDescriptor(descriptor).name, name, source)
    const known = { name, version, source: installed, integrity: checksum ?? null, direct }
    return { descriptor, package: buildPackage(known) }
  })
}

// Descriptors

function splitDescriptor(descriptor: string): { name: string; rest: string } {
  const at = descriptor.indexOf('@', 1)
  if (at === -1) throw new Unreadable(`names ${JSON.stringify(descriptor)} without a range`)
  return { name: descriptor.slice(0, at), rest: descriptor.slice(at + 1) }
}

function formatAliasedSource(alias: string, name: string, source: string): string {
  return alias === name ? source : `${source}, installed as ${alias}`
}

/** `a@patch:a@npm%3A^1.0.0#./a.patch` is a patch of `a@npm:^1.0.0`. */
function getPatchOrigin(descriptor: string): string | null {
  const source = /^@?[^@]+@patch:(?<source>[^#]+)/.exec(descriptor)?.groups?.['source']
  return (
    source?.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))) ?? null
  )
}

/** A range without a protocol means npm. Newer versions of yarn write the protocol. */
function listDescriptorSpellings(descriptor: string): string[] {
  const at = descriptor.indexOf('@', 1)
  return [descriptor, `${descriptor.slice(0, at)}@npm:${descriptor.slice(at + 1)}`]
}
