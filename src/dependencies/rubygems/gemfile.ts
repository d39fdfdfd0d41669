import { buildRequestedPackage, type PackageEntry } from '../addition.ts'
import { type ManifestFormat, matchNames, type ManifestReading, Unreadable } from '../format.ts'

const STRING = String.raw`'[^'\\]*'|"[^"\\#]*"`
const LITERAL = String.raw`(?:${STRING}|:\w+|true|false|nil|\d+(?:\.\d+)*)`
const WORDS = String.raw`%[wi]\[[\w\s:.-]*\]`
const VALUE = String.raw`(?:${LITERAL}|${WORDS}|\[\s*(?:${LITERAL}(?:\s*,\s*${LITERAL})*)?\s*\])`
const KEY = String.raw`(?:(?:\w+):\s*|(?::\w+|${STRING})\s*=>\s*)`
const GEM = new RegExp(
  String.raw`^gem\s+(?<name>${STRING})(?<options>(?:\s*,\s*(?:${KEY})?${VALUE})*)\s*(?:#.*)?$`,
)
const GEMFILE_OPTION = new RegExp(String.raw`,\s*(?<key>${KEY})?(?<value>${VALUE})`, 'g')

/** Texts of more than one line: what stands in them is not what it looks like. */
const LONG_TEXT = /<<[~\-'"`A-Z_]|^=begin|^__END__|%[a-zA-Z]?[^\w\s]/m
const WORDS_ONCE = /%[wi]\[[^\]\n]*\]/g
const OPENS =
  /\bdo\s*(?:\|[^|]*\|)?\s*$|\{\s*(?:\|[^|]*\|)?\s*$|^(?:if|unless|case|while|until|for|begin|def|class|module)\b/
const CLOSES = /^(?:end\b|\})/
const SORTS = /^(?:group|platforms?)\b/
const GEMFILE_SOURCES = new Set([
  'git',
  'github',
  'gitlab',
  'gist',
  'bitbucket',
  'path',
  'source',
  'branch',
  'ref',
  'tag',
])

export const gemfile: ManifestFormat = {
  ecosystem: 'rubygems',
  kind: 'manifest',
  holds: matchNames('gemfile'),
  read: readGemfile,
}

/** A Gemfile is a program: `gem` with nothing but literals is a dependency, every other line has to stay. */
function readGemfile(text: string): ManifestReading {
  const packages: PackageEntry[] = []
  const program: string[] = []
  const around: string[] = []
  const isPlain = !LONG_TEXT.test(text.replace(WORDS_ONCE, ''))
  for (const line of splitGemStatements(text)) {
    const gem = isPlain ? GEM.exec(line) : null
    if (gem?.groups !== undefined) {
      packages.push(toGemRequest(gem.groups, around))
      continue
    }
    program.push(line)
    const shape = line.replace(/\s+/g, ' ')
    if (CLOSES.test(shape)) around.pop()
    else if (OPENS.test(shape)) around.push(line)
  }
  return { packages, rest: new Map([['the program', program.join('\n')]]) }
}

/** A call goes on behind a comma. */
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
  around: readonly string[],
): PackageEntry {
  const options = [...(groups['options'] ?? '').matchAll(GEMFILE_OPTION)].map(({ groups: option }) => ({
    key: (option?.['key'] ?? '').replace(/[:=>'"\s]/g, ''),
    value: (option?.['value'] ?? '').replace(/^(['"])(.*)\1$/, '$2'),
  }))
  const ranges = options.filter(({ key }) => key === '').map(({ value }) => value)
  const origins = options
    .filter(({ key }) => GEMFILE_SOURCES.has(key))
    .map(({ key, value }) => `${key} ${value}`)
  const notes = options
    .filter(({ key }) => key !== '' && !GEMFILE_SOURCES.has(key))
    .map(({ key, value }) => `${key} ${value}`)
  const places = [...around.filter(opening => !SORTS.test(opening)), ...origins]
  return buildRequestedPackage({
    name: (groups['name'] ?? '').slice(1, -1),
    version: ranges.join(', ') || '*',
    source: places.join(', ') || 'registry',
    notes,
  })
}
