import { z } from 'zod'
import type { PackageEntry } from '../addition.ts'
import { flattenPlaces } from '../fields.ts'
import { type ManifestFormat, matchNames, type ManifestReading } from '../format.ts'
import { type NamedLockEntry, linkNeedsByName } from '../needs-by-name.ts'
import { parseTomlTree } from '../toml-text.ts'
import { collectFileHashes, computeIntegrity, isBuiltOnInstall } from './distribution-files.ts'
import { normalizePythonName } from './requirement.ts'

const poetryFiles = z.array(z.object({ file: z.string(), hash: z.string() }))
const poetryEntry = z.object({
  name: z.string(),
  version: z.string(),
  files: poetryFiles.default([]),
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
type PoetryEntry = z.infer<typeof poetryEntry>

const poetryLockfile = z.object({
  package: z.array(poetryEntry).default([]),
  /** `files` is where the first version of the format kept the hashes. */
  metadata: z.object({
    'lock-version': z.string().regex(/^[12]\./),
    files: z.record(z.string(), poetryFiles).default({}),
  }),
  extras: z.unknown().optional(),
})

export const poetryLock: ManifestFormat = {
  ecosystem: 'pypi',
  kind: 'lockfile',
  holds: matchNames('poetry.lock'),
  read: readPoetryLock,
}

function readPoetryLock(text: string): ManifestReading {
  const tree = parseTomlTree(text)
  const { package: packages, metadata } = poetryLockfile.parse(tree)
  const others = Object.entries(tree).filter(([key]) => !(key in poetryLockfile.shape))
  const found = packages.map(each => ({ each, is: toPoetryPackage(each, metadata.files[each.name] ?? []) }))
  return {
    packages: found.map(({ is }) => is),
    rest: flattenPlaces(Object.fromEntries(others), 1),
    installed: linkNeedsByName(found.map(({ each, is }) => toNamedPoetryEntry(each, is))),
  }
}

/** Of two versions of one package a marker chooses. */
function toNamedPoetryEntry({ dependencies }: PoetryEntry, is: PackageEntry): NamedLockEntry {
  return { package: is, names: [is.name], wanted: Object.keys(dependencies).map(normalizePythonName) }
}

function toPoetryPackage(
  { name, version, source, files: own }: PoetryEntry,
  old: z.infer<typeof poetryFiles>,
): PackageEntry {
  const published = [...own, ...old].map(({ file, hash }) => ({ name: file, hash }))
  const chosen = [source?.reference, source?.resolved_reference, source?.subdirectory].filter(Boolean)
  return {
    name: normalizePythonName(name),
    version,
    source: source === undefined ? 'registry' : `${source.type} ${[source.url, ...chosen].join('#')}`,
    integrity: computeIntegrity(published),
    ...collectFileHashes(published),
    direct: null,
    scripts: isBuiltOnInstall(published),
    licence: null,
  }
}
