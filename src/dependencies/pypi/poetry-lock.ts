import { z } from 'zod'
import type { Package } from '../addition.ts'
import { placesOf } from '../fields.ts'
import { type Format, named, type Reading } from '../format.ts'
import { type NamedEntry, needsByName } from '../needs-by-name.ts'
import { parseTomlTree } from '../toml-text.ts'
import { filesOf, integrityOf, runsBuild } from './distribution-files.ts'
import { normalName } from './requirement.ts'

const files = z.array(z.object({ file: z.string(), hash: z.string() }))
const entry = z.object({
  name: z.string(),
  version: z.string(),
  files: files.default([]),
  dependencies: z.record(z.string(), z.unknown()).default({}),
  source: z
    .object({
      type: z.string(),
      url: z.string(),
      reference: z.string().default(''),
      resolved_reference: z.string().default(''),
      subdirectory: z.string().default(''),
    })
    .optional(),
})
type Entry = z.infer<typeof entry>

const lockfile = z.object({
  package: z.array(entry).default([]),
  /** `files` is where the first version of the format kept the hashes. */
  metadata: z.object({
    'lock-version': z.string().regex(/^[12]\./),
    files: z.record(z.string(), files).default({}),
  }),
  extras: z.unknown().optional(),
})

export const poetryLock: Format = {
  ecosystem: 'pypi',
  kind: 'lockfile',
  holds: named('poetry.lock'),
  read: readPoetryLock,
}

function readPoetryLock(text: string): Reading {
  const tree = parseTomlTree(text)
  const { package: packages, metadata } = lockfile.parse(tree)
  const others = Object.entries(tree).filter(([key]) => !(key in lockfile.shape))
  const found = packages.map(each => ({ each, is: packageOf(each, metadata.files[each.name] ?? []) }))
  return {
    packages: found.map(({ is }) => is),
    rest: placesOf(Object.fromEntries(others), 1),
    installed: needsByName(found.map(({ each, is }) => entryOf(each, is))),
  }
}

/** Of two versions of one package a marker chooses. */
function entryOf({ dependencies }: Entry, is: Package): NamedEntry {
  return { package: is, names: [is.name], wanted: Object.keys(dependencies).map(normalName) }
}

function packageOf({ name, version, source, files: own }: Entry, old: z.infer<typeof files>): Package {
  const published = [...own, ...old].map(({ file, hash }) => ({ name: file, hash }))
  const chosen = [source?.reference, source?.resolved_reference, source?.subdirectory].filter(Boolean)
  return {
    name: normalName(name),
    version,
    source: source === undefined ? 'registry' : `${source.type} ${[source.url, ...chosen].join('#')}`,
    integrity: integrityOf(published),
    ...filesOf(published),
    direct: null,
    scripts: runsBuild(published),
    licence: null,
  }
}
