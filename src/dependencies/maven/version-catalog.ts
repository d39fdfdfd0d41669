import { z } from 'zod'
import type { Package } from '../addition.ts'
import { placesOf, textOf, wordOf } from '../fields.ts'
import { type Format, named, type Reading, Unreadable } from '../format.ts'
import { parseTomlTree } from '../toml-text.ts'
import { requested } from './coordinates.ts'

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

export const versionCatalog: Format = {
  ecosystem: 'maven',
  kind: 'manifest',
  holds: named('libs.versions.toml'),
  read: readVersionCatalog,
}

/** A plugin is a program that builds, and a version that no library names may be read by the build itself. */
function readVersionCatalog(text: string): Reading {
  const tree = parseTomlTree(text)
  const { versions, libraries } = catalog.parse(tree)
  const named = new Set(Object.values(libraries).map(referenceIn))
  const others = Object.entries(versions).filter(([name]) => !named.has(name) || isNamedElsewhere(tree, name))
  const { versions: _, libraries: __, ...members } = tree
  return {
    packages: Object.entries(libraries).map(([alias, each]) => packageOf(alias, each, versions)),
    rest: placesOf({ ...members, versions: Object.fromEntries(others) }, 2),
  }
}

function versionIn(each: Library): z.infer<typeof version> | undefined {
  return typeof each === 'string' ? undefined : each.version
}

function referenceIn(each: Library): string | null {
  const wanted = versionIn(each)
  return typeof wanted === 'object' && typeof wanted['ref'] === 'string' ? wanted['ref'] : null
}

function isNamedElsewhere(tree: Readonly<Record<string, unknown>>, name: string): boolean {
  return textOf(tree['plugins'] ?? {}).includes(`"ref":${JSON.stringify(name)}`)
}

/** A build script asks for a library by its alias, which so is part of what it is. */
function packageOf(alias: string, each: Library, versions: z.infer<typeof catalog>['versions']): Package {
  if (typeof each === 'string') return requested(each, [`as ${alias}`])
  const reference = referenceIn(each)
  const wanted = reference === null ? versionIn(each) : versions[reference]
  if (reference !== null && wanted === undefined)
    throw new Unreadable(`names no version ${JSON.stringify(reference)}`)
  const name = 'module' in each ? each.module : `${each.group}:${each.name}`
  return { ...requested(name, []), version: `${wanted === undefined ? '*' : wordOf(wanted)} (as ${alias})` }
}
