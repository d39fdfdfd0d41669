import type { Package } from '../addition.ts'
import { type Format, type Installed, named, type Reading, Unreadable } from '../format.ts'

const SOURCES = new Set(['GEM', 'GIT', 'PATH'])
const HEAD = /^[A-Z][A-Z ]*$/
const OPTION = /^ {2}(?<key>\w+): (?<value>\S.*)$/
const SPEC = /^ {4}(?<name>\S+) \((?<version>[^()]+)\)$/
const NEEDS = /^ {6}(?<name>\S+)(?: \([^()]+\))?$/
const ASKED = /^ {2}(?<name>[^\s!]+)!?(?: \([^()]+\))?!?$/
const CHECKSUM = /^ {2}(?<id>\S+ \([^()]+\))(?: (?<sums>\S+))?$/

export const gemfileLock: Format = {
  ecosystem: 'rubygems',
  kind: 'lockfile',
  holds: named('gemfile.lock'),
  read: readGemfileLock,
}

interface Section {
  head: string
  lines: readonly string[]
}

function readGemfileLock(text: string): Reading {
  const sections = sectionsOf(text)
  const of = (head: string) => sections.filter(each => each.head === head).flatMap(({ lines }) => lines)
  const direct = new Set(of('DEPENDENCIES').map(line => grouped(ASKED, line)['name']))
  const sums = checksumsOf(of('CHECKSUMS'))
  const known = new Set([...SOURCES, 'DEPENDENCIES', 'CHECKSUMS', 'PLATFORMS', 'BUNDLED WITH'])
  const others = sections.filter(({ head }) => !known.has(head))
  const specs = [
    ...sections.filter(({ head }) => SOURCES.has(head)).flatMap(section => specsOf(section, direct, sums)),
    ...of('BUNDLED WITH').map(line => ({ gem: gem('bundler', line.trim(), 'registry'), wanted: [] })),
  ]
  return {
    packages: specs.map(each => each.gem),
    rest: new Map(others.map(({ head, lines }) => [head, lines.join('\n')])),
    installed: installedIn(specs),
  }
}

/** A gem, and the names of those that it needs. */
interface Spec {
  gem: Package
  wanted: string[]
}

/** A gem may be there once for each platform: all of them come, whichever one is installed. */
function installedIn(specs: readonly Spec[]): Map<string, Installed> {
  const named = new Map<string, string[]>()
  const installed = new Map<string, Installed>()
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

function sectionsOf(text: string): Section[] {
  const sections: { head: string; lines: string[] }[] = []
  for (const line of text.split(/\r?\n/)) {
    if (line === '') continue
    const section = sections.at(-1)
    if (HEAD.test(line)) sections.push({ head: line, lines: [] })
    else if (section !== undefined && line.startsWith('  ')) section.lines.push(line)
    else throw unknown(line)
  }
  return sections
}

function unknown(line: string): Unreadable {
  return new Unreadable(`has a line that bundler does not write: ${JSON.stringify(line.slice(0, 80))}`)
}

function grouped(pattern: RegExp, line: string): Readonly<Record<string, string | undefined>> {
  const groups = pattern.exec(line)?.groups
  if (groups === undefined) throw unknown(line)
  return groups
}

function checksumsOf(lines: readonly string[]): Map<string, string> {
  const sums = new Map<string, string>()
  for (const line of lines) {
    const { id = '', sums: found } = grouped(CHECKSUM, line)
    const all = [sums.get(id), found].filter(each => each !== undefined)
    if (all.length > 0) sums.set(id, all.join(','))
  }
  return sums
}

function specsOf(
  { head, lines }: Section,
  direct: ReadonlySet<string | undefined>,
  sums: ReadonlyMap<string, string>,
): Spec[] {
  const at = lines.indexOf('  specs:')
  if (at === -1) throw new Unreadable(`has no specs in ${head}`)
  const options = lines.slice(0, at).map(line => grouped(OPTION, line))
  const source = sourceOf(
    head,
    options.map(({ key = '', value = '' }) => [key, value]),
  )
  const specs: Spec[] = []
  for (const line of lines.slice(at + 1)) {
    const wanted = NEEDS.exec(line)?.groups?.['name']
    if (wanted === undefined) {
      const { name = '', version = '' } = grouped(SPEC, line)
      const integrity = sums.get(`${name} (${version})`) ?? null
      specs.push({ gem: { ...gem(name, version, source), integrity, direct: direct.has(name) }, wanted: [] })
      continue
    }
    const needing = specs.at(-1)
    if (needing === undefined) throw unknown(line)
    needing.wanted.push(wanted)
  }
  return specs
}

function sourceOf(head: string, options: readonly (readonly [string, string])[]): string {
  const remotes = options.filter(([key]) => key === 'remote').map(([, value]) => value)
  const others = options.filter(([key]) => key !== 'remote').map(([key, value]) => `${key} ${value}`)
  const kind = head === 'GEM' ? '' : `${head.toLowerCase()} `
  return [`${kind}${remotes.join(' or ')}`, ...others].join(', ')
}

function gem(name: string, version: string, source: string): Package {
  return { name, version, source, integrity: null, direct: null, scripts: null, licence: null }
}
