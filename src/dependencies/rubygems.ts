import { appendToKey, type InstalledPackage, type ManifestReading, Unreadable } from './manifest-format.ts'
import { buildPackage, buildRequestedPackage, type PackageEntry } from './package.ts'

// Gemfile

const STRING = String.raw`'[^'\\]*'|"[^"\\#]*"`
const LITERAL = String.raw`(?:${STRING}|:\w+|true|false|nil|\d+(?:\.\d+)*)`
const WORDS = String.raw`%[wi]\[[\w\s:.-]*\]`
const VALUE = String.raw`(?:${LITERAL}|${WORDS}|\[\s*(?:${LITERAL}(?:\s*,\s*${LITERAL})*)?\s*\])`
const KEY = String.raw`(?:(?:\w+):\s*|(?::\w+|${STRING})\s*=>\s*)`
const GEM = new RegExp(
  String.raw`^gem\s+(?<name>${STRING})(?<options>(?:\s*,\s*(?:${KEY})?${VALUE})*)\s*(?:#.*)?$`,
)
const GEMFILE_OPTION = new RegExp(String.raw`,\s*(?<key>${KEY})?(?<value>${VALUE})`, 'g')

/** Multi-line texts: a line inside one can look like a dependency. */
const LONG_TEXT = /<<[~\-'"`A-Z_]|^=begin|^__END__|%[a-zA-Z]?[^\w\s]/m
const WORDS_ONCE = /%[wi]\[[^\]\n]*\]/g
const OPENS =
  /\bdo\s*(?:\|[^|]*\|)?\s*$|\{\s*(?:\|[^|]*\|)?\s*$|^(?:if|unless|case|while|until|for|begin|def|class|module)\b/
const CLOSES = /^(?:end\b|\})/
const SORTS = /^(?:group|platforms?)\b/
const GEMFILE_SOURCE = /^(?:git|github|gitlab|gist|bitbucket|path|source|branch|ref|tag)$/

/**
 * A Gemfile is a program. A `gem` call with literals only is a dependency; every other line must not change.
 */
export function readGemfile(text: string): ManifestReading {
  const packages: PackageEntry[] = []
  const program: string[] = []
  const openBlocks: string[] = []
  const isPlain = !LONG_TEXT.test(text.replace(WORDS_ONCE, ''))
  for (const line of splitGemStatements(text)) {
    const gem = isPlain ? GEM.exec(line) : null
    if (gem?.groups !== undefined) {
      packages.push(toGemRequest(gem.groups, openBlocks))
      continue
    }
    program.push(line)
    const shape = line.replace(/\s+/g, ' ')
    if (CLOSES.test(shape)) openBlocks.pop()
    else if (OPENS.test(shape)) openBlocks.push(line)
  }
  return { packages, rest: new Map([['the program', program.join('\n')]]) }
}

/** A call continues on the next line after a comma. */
function splitGemStatements(text: string): string[] {
  if (text.includes('\0')) throw new Unreadable('has a zero byte')
  const joined = text.replace(/^([ \t]*gem[ \t][^#\n]*,)[ \t\r]*\n[ \t]*/gm, '$1 ')
  return joined
    .split(/\r?\n/)
    .map(line => line.trim())
    .filter(line => line !== '')
}

function toGemRequest(
  groups: Readonly<Record<string, string | undefined>>,
  openBlocks: readonly string[],
): PackageEntry {
  const options = [...(groups['options'] ?? '').matchAll(GEMFILE_OPTION)].map(({ groups: option }) => ({
    key: (option?.['key'] ?? '').replace(/[:=>'"\s]/g, ''),
    value: (option?.['value'] ?? '').replace(/^(['"])(.*)\1$/, '$2'),
  }))
  const ranges = options.filter(({ key }) => key === '').map(({ value }) => value)
  const listOptions = (isWanted: (key: string) => boolean) =>
    options.filter(({ key }) => isWanted(key)).map(({ key, value }) => `${key} ${value}`)
  const origins = listOptions(key => GEMFILE_SOURCE.test(key))
  const notes = listOptions(key => key !== '' && !GEMFILE_SOURCE.test(key))
  const places = [...openBlocks.filter(opening => !SORTS.test(opening)), ...origins]
  const name = (groups['name'] ?? '').slice(1, -1)
  const version = ranges.join(', ') || '*'
  return buildRequestedPackage({ name, version, source: places.join(', ') || 'registry' }, notes)
}

// Gemfile.lock

const GEM_LOCK_SOURCES = new Set(['GEM', 'GIT', 'PATH'])
const HEAD = /^[A-Z][A-Z ]*$/
const GEM_LOCK_OPTION = /^ {2}(?<key>\w+): (?<value>\S.*)$/
const SPEC = /^ {4}(?<name>\S+) \((?<version>[^()]+)\)$/
const NEEDS = /^ {6}(?<name>\S+)(?: \([^()]+\))?$/
const ASKED = /^ {2}(?<name>[^\s!]+)!?(?: \([^()]+\))?!?$/
const CHECKSUM = /^ {2}(?<id>\S+ \([^()]+\))(?: (?<sums>\S+))?$/

interface GemfileSection {
  head: string
  lines: readonly string[]
}

export function readGemfileLock(text: string): ManifestReading {
  const sections = splitGemSections(text)
  const listLines = (head: string) =>
    sections.filter(each => each.head === head).flatMap(({ lines }) => lines)
  const direct = new Set(listLines('DEPENDENCIES').map(line => matchGroups(ASKED, line)['name']))
  const sums = parseGemChecksums(listLines('CHECKSUMS'))
  const known = new Set([...GEM_LOCK_SOURCES, 'DEPENDENCIES', 'CHECKSUMS', 'PLATFORMS', 'BUNDLED WITH'])
  const others = sections.filter(({ head }) => !known.has(head))
  const specs = [
    ...sections
      .filter(({ head }) => GEM_LOCK_SOURCES.has(head))
      .flatMap(section => parseGemSpecs(section, direct, sums)),
    ...listLines('BUNDLED WITH').map(line => ({
      gem: buildPackage({ name: 'bundler', version: line.trim() }),
      wanted: [],
    })),
  ]
  return {
    packages: specs.map(each => each.gem),
    rest: new Map(others.map(({ head, lines }) => [head, lines.join('\n')])),
    installed: collectGemInstalls(specs),
  }
}

interface GemSpec {
  gem: PackageEntry
  wanted: string[]
}

/** The lockfile may list a gem once per platform. All of them count. */
function collectGemInstalls(specs: readonly GemSpec[]): Map<string, InstalledPackage> {
  const named = new Map<string, string[]>()
  const installed = new Map<string, InstalledPackage>()
  for (const [at, { gem: found, wanted }] of specs.entries()) {
    const place = `#${at}`
    installed.set(place, { package: found, needs: wanted })
    appendToKey(named, found.name, [place])
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
  const source = formatGemSource(
    head,
    lines.slice(0, at).map(line => matchGroups(GEM_LOCK_OPTION, line)),
  )
  const specs: GemSpec[] = []
  for (const line of lines.slice(at + 1)) {
    const wanted = NEEDS.exec(line)?.groups?.['name']
    if (wanted === undefined) {
      const { name = '', version = '' } = matchGroups(SPEC, line)
      const integrity = sums.get(`${name} (${version})`) ?? null
      const gem = buildPackage({ name, version, source, integrity, direct: direct.has(name) })
      specs.push({ gem, wanted: [] })
    } else {
      const needing = specs.at(-1)
      if (needing === undefined) throw toUnknownLineError(line)
      needing.wanted.push(wanted)
    }
  }
  return specs
}

function formatGemSource(head: string, options: readonly ReturnType<typeof matchGroups>[]): string {
  const remotes = options.filter(({ key }) => key === 'remote').map(({ value }) => value)
  const others = options.filter(({ key }) => key !== 'remote').map(({ key, value }) => `${key} ${value}`)
  const kind = head === 'GEM' ? '' : `${head.toLowerCase()} `
  return [`${kind}${remotes.join(' or ')}`, ...others].join(', ')
}
