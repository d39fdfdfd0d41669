import { z } from 'zod'
import type { PackageEntry } from '../addition.ts'
import { flattenPlaces, formatJson, formatValue } from '../fields.ts'
import { type ManifestFormat, matchNames, type ManifestReading, Unreadable } from '../format.ts'
import { parseTomlTree } from '../toml-text.ts'
import { toMavenPackage } from './coordinates.ts'

const version = z.union([z.string(), z.record(z.string(), z.unknown())])
const library = z.union([
  z.string(),
  z.strictObject({ module: z.string(), version: version.optional() }),
  z.strictObject({ group: z.string(), name: z.string(), version: version.optional() }),
])
type Library = z.infer<typeof library>

const catalog = z.object({
  versions: z.record(z.string(), version).default({}),
  libraries: z.record(z.string(), library).default({}),
})

export const versionCatalog: ManifestFormat = {
  ecosystem: 'maven',
  kind: 'manifest',
  holds: matchNames('libs.versions.toml'),
  read: readVersionCatalog,
}

/** A plugin is a program that builds, and a version that no library names may be read by the build itself. */
function readVersionCatalog(text: string): ManifestReading {
  const tree = parseTomlTree(text)
  const { versions, libraries } = catalog.parse(tree)
  const named = new Set(Object.values(libraries).map(getVersionReference))
  const others = Object.entries(versions).filter(([name]) => !named.has(name) || isNamedElsewhere(tree, name))
  const { versions: _, libraries: __, ...members } = tree
  return {
    packages: Object.entries(libraries).map(([alias, each]) => toCatalogPackage(alias, each, versions)),
    rest: flattenPlaces({ ...members, versions: Object.fromEntries(others) }, 2),
  }
}

function getCatalogVersion(each: Library): z.infer<typeof version> | undefined {
  return typeof each === 'string' ? undefined : each.version
}

function getVersionReference(each: Library): string | null {
  const wanted = getCatalogVersion(each)
  return typeof wanted === 'object' && typeof wanted['ref'] === 'string' ? wanted['ref'] : null
}

function isNamedElsewhere(tree: Readonly<Record<string, unknown>>, name: string): boolean {
  return formatJson(tree['plugins'] ?? {}).includes(`"ref":${JSON.stringify(name)}`)
}

/** A build script asks for a library by its alias, which so is part of what it is. */
function toCatalogPackage(
  alias: string,
  each: Library,
  versions: z.infer<typeof catalog>['versions'],
): PackageEntry {
  if (typeof each === 'string') return toMavenPackage(each, [`as ${alias}`])
  const reference = getVersionReference(each)
  const wanted = reference === null ? getCatalogVersion(each) : versions[reference]
  if (reference !== null && wanted === undefined)
    throw new Unreadable(`names no version ${JSON.stringify(reference)}`)
  const name = 'module' in each ? each.module : `${each.group}:${each.name}`
  return {
    ...toMavenPackage(name, []),
    version: `${wanted === undefined ? '*' : formatValue(wanted)} (as ${alias})`,
  }
}
