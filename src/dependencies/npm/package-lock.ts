import { z } from 'zod'
import type { PackageEntry } from '../addition.ts'
import { flattenPlaces } from '../fields.ts'
import {
  type ManifestFormat,
  type InstalledPackage,
  matchNames,
  type ManifestReading,
  Unreadable,
} from '../format.ts'
import { parseJsonTree } from '../json-text.ts'
import { getRegistryAddress } from './spec.ts'

const names = z.record(z.string(), z.string()).default({})
const entry = z.object({
  name: z.string().optional(),
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().default(false),
  inBundle: z.boolean().default(false),
  hasInstallScript: z.boolean().default(false),
  license: z.unknown().optional(),
  dependencies: names,
  devDependencies: names,
  optionalDependencies: names,
  peerDependencies: names,
})
type PackageLockEntry = z.infer<typeof entry>

const legacyEntry = z.object({
  version: z.string(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  bundled: z.boolean().default(false),
  get dependencies() {
    return z.record(z.string(), legacyEntry).default({})
  },
})
type LegacyEntry = z.infer<typeof legacyEntry>

const lockfile = z.object({
  lockfileVersion: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  packages: z.record(z.string(), entry).default({}),
  dependencies: z.record(z.string(), legacyEntry).default({}),
})

/** What describes the project itself, which package.json answers for. */
const DESCRIBES = new Set(['name', 'version', 'lockfileVersion', 'requires', 'packages', 'dependencies'])
const FOLDER = 'node_modules/'

export const packageLock: ManifestFormat = {
  ecosystem: 'npm',
  kind: 'lockfile',
  holds: matchNames('package-lock.json', 'npm-shrinkwrap.json'),
  read: readPackageLock,
}

/** Newer versions of npm read `packages` and older ones `dependencies`: what either finds counts. */
function readPackageLock(text: string): ManifestReading {
  const tree = parseJsonTree(text)
  const { packages, dependencies } = lockfile.parse(tree)
  const others = Object.entries(tree).filter(([key]) => !DESCRIBES.has(key))
  const own = Object.entries(packages).filter(([key]) => !key.includes(FOLDER))
  const direct = new Set(own.flatMap(([, each]) => listWantedNames(each)))
  const found = Object.entries(packages).map(([key, each]) => ({
    key,
    each,
    is: toInstalledPackages(key, each, direct),
  }))
  const places = new Map<string, InstalledPackage>()
  for (const { key, each, is } of found)
    for (const one of is) places.set(key, { package: one, needs: listNeededPlaces(packages, key, each) })
  return {
    packages: [
      ...found.flatMap(({ is }) => is),
      ...Object.entries(dependencies).flatMap(([key, each]) => listLegacyPackages(key, each)),
    ],
    rest: flattenPlaces(Object.fromEntries(others), 1),
    ...(places.size === 0 || Object.keys(packages).some(isTooDeep) ? {} : { installed: places }),
  }
}

/** Where node finds what a package asks for: beside it, or in any folder above. */
function listNeededPlaces(
  packages: Readonly<Record<string, PackageLockEntry>>,
  key: string,
  each: PackageLockEntry,
): string[] {
  const { dependencies, optionalDependencies, peerDependencies } = each
  const names = [dependencies, optionalDependencies, peerDependencies].flatMap(Object.keys)
  return names.flatMap(name => {
    for (let folder = key; ; folder = getParentFolder(folder)) {
      const place = `${folder === '' ? '' : `${folder}/`}${FOLDER}${name}`
      if (Object.hasOwn(packages, place)) return [place]
      if (folder === '') return []
    }
  })
}

/** No project nests like that, and looking through every folder of it would take forever. */
function isTooDeep(key: string): boolean {
  return key.split('/').length > 100
}

function getParentFolder(folder: string): string {
  return folder.slice(0, Math.max(0, folder.lastIndexOf('/')))
}

function listWantedNames(each: PackageLockEntry): string[] {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = each
  return [dependencies, devDependencies, optionalDependencies, peerDependencies].flatMap(Object.keys)
}

function toInstalledPackages(
  key: string,
  each: PackageLockEntry,
  wanted: ReadonlySet<string>,
): PackageEntry[] {
  const at = key.lastIndexOf(FOLDER)
  if (at === -1) return checkLocalPackage(key, each)
  if (key.split('/').includes('..'))
    throw new Unreadable(`installs outside the project: ${JSON.stringify(key)}`)
  const folder = key.slice(at + FOLDER.length)
  const name = each.name ?? folder
  const version = each.version ?? '*'
  return [
    {
      name,
      version,
      source: `${formatLockSource(name, version, each)}${name === folder ? '' : `, installed as ${folder}`}`,
      integrity: each.integrity ?? null,
      direct: wanted.has(folder) && key.indexOf(FOLDER) === at,
      scripts: each.link ? null : each.hasInstallScript,
      licence: typeof each.license === 'string' ? each.license : null,
    },
  ]
}

/** A package of this repository is not fetched, so an entry of it has no address to fetch from. */
function checkLocalPackage(key: string, { resolved }: PackageLockEntry): PackageEntry[] {
  if (resolved === undefined) return []
  throw new Unreadable(`fetches ${JSON.stringify(key)}, which is not in ${FOLDER}, from ${resolved}`)
}

function formatLockSource(
  name: string,
  version: string,
  { link, inBundle, resolved }: PackageLockEntry,
): string {
  return link
    ? `path ${resolved ?? 'unknown'}`
    : formatFetchSource({ name, version, resolved, bundled: inBundle })
}

type FetchedFile = { name: string; version: string; resolved: string | undefined; bundled: boolean }

/** What comes in the files of another package has no address of its own; where one is given, it is told. */
function formatFetchSource({ name, version, resolved, bundled }: FetchedFile): string {
  const address = resolved === undefined ? null : getRegistryAddress(name, version, resolved)
  if (bundled) return address === null ? 'bundled' : `bundled or ${address}`
  return address ?? 'registry'
}

function listLegacyPackages(name: string, each: LegacyEntry): PackageEntry[] {
  const inner = Object.entries(each.dependencies).flatMap(([key, nested]) => listLegacyPackages(key, nested))
  const alias = /^npm:(?<actual>@?[^@]+)@(?<version>.+)$/.exec(each.version)?.groups
  const actual = alias?.['actual'] ?? name
  const version = alias?.['version'] ?? each.version
  const source = `${formatLegacySource(actual, version, each)}${actual === name ? '' : `, installed as ${name}`}`
  const integrity = each.integrity ?? null
  return [{ name: actual, version, source, integrity, direct: null, scripts: null, licence: null }, ...inner]
}

function formatLegacySource(name: string, version: string, { resolved, bundled }: LegacyEntry): string {
  return /[:/]/.test(version) ? version : formatFetchSource({ name, version, resolved, bundled })
}
