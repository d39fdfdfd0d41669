import { type ManifestReading, Unreadable } from './manifest-format.ts'
import { buildPackage, type PackageEntry } from './package.ts'

// go.mod

/** Directives that exclude versions or describe the module itself. They add no package. */
const HARMLESS = new Set(['exclude', 'retract'])
const REQUIRE = /^(?<name>\S+) (?<version>v\S+)$/
const REPLACE = /^(?<old>\S+)(?: (?<oldVersion>v\S+))? => (?<name>\S+)(?: (?<version>v\S+))?$/

export function readGoMod(text: string): ManifestReading {
  const packages: PackageEntry[] = []
  const rest = new Map<string, string>()
  for (const { verb, words, comment } of parseGoDirectives(text)) {
    if (HARMLESS.has(verb)) continue
    if (verb === 'require') packages.push(parseGoRequire(words, comment))
    else if (verb === 'replace') packages.push(parseGoReplace(words))
    else rest.set(verb, [rest.get(verb), words].filter(Boolean).join(', '))
  }
  return { packages, rest }
}

/** Lists the directives: lines of their own, and the lines of blocks. */
function parseGoDirectives(text: string) {
  if (/["`]|\/\*/.test(text)) throw new Unreadable('has quoted words')
  const directives: { verb: string; words: string; comment: string }[] = []
  let block: string | null = null
  for (const line of text.split(/\r?\n/)) {
    const [code = '', ...comments] = line.split('//')
    const words = code.trim().replace(/\s+/g, ' ')
    const comment = comments.join('//').trim()
    if (words === '') continue
    if (block !== null && words === ')') block = null
    else if (block !== null) directives.push({ verb: block, words, comment })
    else if (words.endsWith(' (')) block = words.slice(0, -2)
    else directives.push({ verb: words.replace(/ .*$/, ''), words: words.replace(/^\S+ ?/, ''), comment })
  }
  if (block !== null) throw new Unreadable(`does not close its block of ${block}`)
  return directives
}

function parseGoRequire(words: string, comment: string): PackageEntry {
  const { name, version } = REQUIRE.exec(words)?.groups ?? {}
  if (name === undefined || version === undefined) throw new Unreadable(`requires ${JSON.stringify(words)}`)
  return toGoRequest(name, version, 'registry', !/^indirect\b/.test(comment))
}

/** Go builds the right side: another module, or a directory. */
function parseGoReplace(words: string): PackageEntry {
  const { old, oldVersion, name, version } = REPLACE.exec(words)?.groups ?? {}
  if (old === undefined || name === undefined) throw new Unreadable(`replaces ${JSON.stringify(words)}`)
  if (version === undefined) return toGoRequest(old, oldVersion ?? '*', `path ${name}`, true)
  const place = oldVersion === undefined ? old : `${old}@${oldVersion}`
  return toGoRequest(name, version, `registry, in place of ${place}`, true)
}

/** Go runs no code of a module when it fetches it. */
function toGoRequest(name: string, version: string, source: string, direct: boolean): PackageEntry {
  return buildPackage({ name, version, source, direct, scripts: false })
}

// go.sum

const LINE = /^(?<name>\S+) (?<version>v[^\s/]+)(?<mod>\/go\.mod)? (?<hash>h1:[\w+/]+=*)$/

export function readGoSum(text: string): ManifestReading {
  const lines = text.split(/\r?\n/).filter(line => line !== '')
  return { packages: lines.map(toGoSumPackage), rest: new Map() }
}

/**
 * Go reads the go.mod of a module to choose versions, even of modules that it does not use. So go.mod has a
 * hash of its own.
 */
function toGoSumPackage(line: string): PackageEntry {
  const { name, version, mod, hash } = LINE.exec(line)?.groups ?? {}
  if (name === undefined || version === undefined || hash === undefined)
    throw new Unreadable(`has a line that go does not write: ${JSON.stringify(line.slice(0, 80))}`)
  const integrity = mod === undefined ? hash : `go.mod ${hash}`
  return buildPackage({ name, version, integrity, scripts: false })
}
