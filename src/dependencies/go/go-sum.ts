import type { PackageEntry } from '../addition.ts'
import { type ManifestFormat, matchNames, type ManifestReading, Unreadable } from '../format.ts'

const LINE = /^(?<name>\S+) (?<version>v[^\s/]+)(?<mod>\/go\.mod)? (?<hash>h1:[\w+/]+=*)$/

export const goSum: ManifestFormat = {
  ecosystem: 'go',
  kind: 'lockfile',
  holds: matchNames('go.sum', 'go.work.sum'),
  read: text =>
    ({ packages: listGoSumLines(text).map(toGoSumPackage), rest: new Map() }) satisfies ManifestReading,
}

function listGoSumLines(text: string): string[] {
  return text.split(/\r?\n/).filter(line => line !== '')
}

/** A module's go.mod has a hash of its own: it is read to choose versions, even where the module is not used. */
function toGoSumPackage(line: string): PackageEntry {
  const { name, version, mod, hash } = LINE.exec(line)?.groups ?? {}
  if (name === undefined || version === undefined || hash === undefined)
    throw new Unreadable(`has a line that go does not write: ${JSON.stringify(line.slice(0, 80))}`)
  const integrity = mod === undefined ? hash : `go.mod ${hash}`
  return { name, version, source: 'registry', integrity, direct: null, scripts: false, licence: null }
}
