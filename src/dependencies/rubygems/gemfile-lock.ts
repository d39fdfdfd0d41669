import type { PackageEntry } from '../addition.ts'
import {
  type ManifestFormat,
  type InstalledPackage,
  matchNames,
  type ManifestReading,
  Unreadable,
} from '../format.ts'

const GEM_LOCK_SOURCES = new Set(['GEM', 'GIT', 'PATH'])
const HEAD = /^[A-Z][A-Z ]*$/
const GEM_LOCK_OPTION = /^ {2}(?<key>\w+): (?<value>\S.*)$/
const SPEC = /^ {4}(?<name>\S+) \((?<version>[^()]+)\)$/
const NEEDS = /^ {6}(?<name>\S+)(?: \([^()]+\))?$/
const ASKED = /^ {2}(?<name>[^\s!]+)!?(?: \([^()]+\))?!?$/
const CHECKSUM = /^ {2}(?<id>\S+ \([^()]+\))(?: (?<sums>\S+))?$/

export const gemfileLock: ManifestFormat = {
  ecosystem: 'rubygems',
  kind: 'lockfile',
  holds: matchNames('gemfile.lock'),
  read: readGemfileLock,
}

interface GemfileSection {
  head: string
  lines: readonly string[]
}

function readGemfileLock(text: string): ManifestReading {
  const sections = splitGemSections(text)
  const of = (head: string) => sections.filter(each => each.head === head).flatMap(({ lines }) => lines)
  const direct = new Set(of('DEPENDENCIES').map(line => matchGroups(ASKED, line)['name']))
  const sums = parseGemChecksums(of('CHECKSUMS'))
  const known = new Set([...GEM_LOCK_SOURCES, 'DEPENDENCIES', 'CHECKSUMS', 'PLATFORMS', 'BUNDLED WITH'])
  const others = sections.filter(({ head }) => !known.has(head))
  const specs = [
    ...sections
      .filter(({ head }) => GEM_LOCK_SOURCES.has(head))
      .flatMap(section => parseGemSpecs(section, direct, sums)),
    ...of('BUNDLED WITH').map(line => ({ gem: buildGem('bundler', line.trim(), 'registry'), wanted: [] })),
  ]
  return {
    packages: specs.map(each => each.gem),
    rest: new Map(others.map(({ head, lines }) => [head, lines.join('\n')])),
    installed: collectGemInstalls(specs),
  }
}

/** A gem, and the names of those that it needs. */
interface GemSpec {
  gem: PackageEntry
  wanted: string[]
}

/** A gem may be there once for each platform: all of them come, whichever one is installed. */
function collectGemInstalls(specs: readonly GemSpec[]): Map<string, InstalledPackage> {
  const named = new Map<string, string[]>()
  const installed = new Map<string, InstalledPackage>()
  for (const [at, { gem: found, wanted }] of specs.entries()) {
    const place = `#${at}`
    installed.set(place, { package: found, needs: wanted })
    const others = named.get(found.name)
    if (others === undefined) named.set(found.name, [place])
    else others.push(place)
  }
  for (const [name, places] of named) installed.set(name, { package: null, needs: places })
  return installed
}

function splitGemSections(text: string): GemfileSection[] {
  const sections: { head: string; lines: string[] }[] = []
  for (const line of text.split(/\r?\n/)) {
    if (line === '') continue
    const section = sections.at(-1)
    if (HEAD.test(line)) sections.push({ head: line, lines: [] })
    else if (section !== undefined && line.startsWith('  ')) section.lines.push(line)
    else throw toUnknownLineError(line)
  }
  return sections
}

function toUnknownLineError(line: string): Unreadable {
  return new Unreadable(`has a line that bundler does not write: ${JSON.stringify(line.slice(0, 80))}`)
}

function matchGroups(pattern: RegExp, line: string): Readonly<Record<string, string | undefined>> {
  const groups = pattern.exec(line)?.groups
  if (groups === undefined) throw toUnknownLineError(line)
  return groups
}

function parseGemChecksums(lines: readonly string[]): Map<string, string> {
  const sums = new Map<string, string>()
  for (const line of lines) {
    const { id = '', sums: found } = matchGroups(CHECKSUM, line)
    const all = [sums.get(id), found].filter(each => each !== undefined)
    if (all.length > 0) sums.set(id, all.join(','))
  }
  return sums
}

function parseGemSpecs(
  { head, lines }: GemfileSection,
  direct: ReadonlySet<string | undefined>,
  sums: ReadonlyMap<string, string>,
): GemSpec[] {
  const at = lines.indexOf('  specs:')
  if (at === -1) throw new Unreadable(`has no specs in ${head}`)
  const options = lines.slice(0, at).map(line => matchGroups(GEM_LOCK_OPTION, line))
  const source = formatGemSource(
    head,
    options.map(({ key = '', value = '' }) => [key, value]),
  )
  const specs: GemSpec[] = []
  for (const line of lines.slice(at + 1)) {
    const wanted = NEEDS.exec(line)?.groups?.['name']
    if (wanted === undefined) {
      const { name = '', version = '' } = matchGroups(SPEC, line)
      const integrity = sums.get(`${name} (${version})`) ?? null
      specs.push({
        gem: { ...buildGem(name, version, source), integrity, direct: direct.has(name) },
        wanted: [],
      })
      continue
    }
    const needing = specs.at(-1)
    if (needing === undefined) throw toUnknownLineError(line)
    needing.wanted.push(wanted)
  }
  return specs
}

function formatGemSource(head: string, options: readonly (readonly [string, string])[]): string {
  const remotes = options.filter(([key]) => key === 'remote').map(([, value]) => value)
  const others = options.filter(([key]) => key !== 'remote').map(([key, value]) => `${key} ${value}`)
  const kind = head === 'GEM' ? '' : `${head.toLowerCase()} `
  return [`${kind}${remotes.join(' or ')}`, ...others].join(', ')
}

function buildGem(name: string, version: string, source: string): PackageEntry {
  return { name, version, source, integrity: null, direct: null, scripts: null, licence: null }
}
