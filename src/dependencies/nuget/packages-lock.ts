import { z } from 'zod'
import type { PackageEntry } from '../addition.ts'
import { flattenPlaces } from '../fields.ts'
import { type ManifestFormat, matchNames, type ManifestReading } from '../format.ts'
import { parseJsonTree } from '../json-text.ts'

const entry = z.discriminatedUnion('type', [
  z.object({
    type: z.enum(['Direct', 'Transitive', 'CentralTransitive']),
    resolved: z.string(),
    contentHash: z.string().optional(),
  }),
  z.object({ type: z.literal('Project') }),
])

const lockfile = z.object({
  version: z.union([z.literal(1), z.literal(2)]),
  dependencies: z.record(z.string(), z.record(z.string(), entry)),
})

export const packagesLock: ManifestFormat = {
  ecosystem: 'nuget',
  kind: 'lockfile',
  holds: matchNames('packages.lock.json'),
  read: readPackagesLock,
}

/** One list for every framework that is built for; projects of the same repository are not fetched. */
function readPackagesLock(text: string): ManifestReading {
  const tree = parseJsonTree(text)
  const { dependencies } = lockfile.parse(tree)
  const others = Object.entries(tree).filter(([key]) => !(key in lockfile.shape))
  const entries = Object.values(dependencies).flatMap(each => Object.entries(each))
  return {
    packages: entries.flatMap(([name, each]) => toNugetPackages(name, each)),
    rest: flattenPlaces(Object.fromEntries(others), 1),
  }
}

function toNugetPackages(name: string, each: z.infer<typeof entry>): PackageEntry[] {
  if (each.type === 'Project') return []
  const { resolved: version, contentHash, type } = each
  const integrity = contentHash ?? null
  return [
    { name, version, source: 'registry', integrity, direct: type === 'Direct', scripts: null, licence: null },
  ]
}
