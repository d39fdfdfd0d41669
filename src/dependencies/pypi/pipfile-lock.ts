import { z } from 'zod'
import type { PackageEntry } from '../addition.ts'
import { formatJson } from '../fields.ts'
import { type ManifestFormat, matchNames, type ManifestReading } from '../format.ts'
import { parseJsonTree } from '../json-text.ts'
import { normalizePythonName } from './requirement.ts'

const pipfileEntry = z.looseObject({
  version: z.string().default('*'),
  hashes: z.array(z.string()).default([]),
  index: z.string().optional(),
  markers: z.unknown().optional(),
  extras: z.unknown().optional(),
})
const pipfileCategory = z.record(z.string(), pipfileEntry)

export const pipfileLock: ManifestFormat = {
  ecosystem: 'pypi',
  kind: 'lockfile',
  holds: matchNames('pipfile.lock'),
  read: readPipfileLock,
}

/** Every member but `_meta` is a category of packages. */
function readPipfileLock(text: string): ManifestReading {
  const { _meta: meta, ...categories } = parseJsonTree(text)
  const { sources } = z.object({ sources: z.unknown().optional() }).parse(meta)
  const packages = Object.values(categories).flatMap(each => Object.entries(pipfileCategory.parse(each)))
  return {
    packages: packages.map(([name, each]) => toPipfilePackage(name, each)),
    rest: new Map(sources === undefined ? [] : [['_meta.sources', formatJson(sources)]]),
  }
}

function toPipfilePackage(name: string, each: z.infer<typeof pipfileEntry>): PackageEntry {
  const { version, hashes, index, markers: _, extras: __, ...origin } = each
  const isElsewhere = Object.keys(origin).length > 0
  return {
    name: normalizePythonName(name),
    version: version.replace(/^==/, ''),
    source: isElsewhere
      ? formatJson(index === undefined ? origin : { index, ...origin })
      : (index ?? 'registry'),
    integrity: hashes.length === 0 ? null : hashes.toSorted().join(' '),
    direct: null,
    scripts: null,
    licence: null,
  }
}
