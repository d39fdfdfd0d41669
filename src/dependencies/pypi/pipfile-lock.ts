import { z } from 'zod'
import type { Package } from '../addition.ts'
import { textOf } from '../fields.ts'
import { type Format, named, type Reading } from '../format.ts'
import { parseJsonTree } from '../json-text.ts'
import { normalName } from './requirement.ts'

const entry = z.looseObject({
  version: z.string().default('*'),
  hashes: z.array(z.string()).default([]),
  index: z.string().optional(),
  markers: z.unknown().optional(),
  extras: z.unknown().optional(),
})
const category = z.record(z.string(), entry)

export const pipfileLock: Format = {
  ecosystem: 'pypi',
  kind: 'lockfile',
  holds: named('pipfile.lock'),
  read: readPipfileLock,
}

/** Every member but `_meta` is a category of packages. */
function readPipfileLock(text: string): Reading {
  const { _meta: meta, ...categories } = parseJsonTree(text)
  const { sources } = z.object({ sources: z.unknown().optional() }).parse(meta)
  const packages = Object.values(categories).flatMap(each => Object.entries(category.parse(each)))
  return {
    packages: packages.map(([name, each]) => packageOf(name, each)),
    rest: new Map(sources === undefined ? [] : [['_meta.sources', textOf(sources)]]),
  }
}

function packageOf(name: string, each: z.infer<typeof entry>): Package {
  const { version, hashes, index, markers: _, extras: __, ...origin } = each
  const isElsewhere = Object.keys(origin).length > 0
  return {
    name: normalName(name),
    version: version.replace(/^==/, ''),
    source: isElsewhere ? textOf(index === undefined ? origin : { index, ...origin }) : (index ?? 'registry'),
    integrity: hashes.length === 0 ? null : hashes.toSorted().join(' '),
    direct: null,
    scripts: null,
    licence: null,
  }
}
