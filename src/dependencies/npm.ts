import { z } from 'zod'
import {
  type Field,
  flattenPlaces,
  type InstalledPackage,
  type ManifestFormat,
  type ManifestReading,
  matchNames,
  splitFields,
  Unreadable,
} from './manifest-format.ts'
import { buildRequestedPackage, type PackageEntry } from './package.ts'
import { parseJsonTree } from './text-formats.ts'

// Requests

const ALIAS = /^npm:(?<name>@?[^@]+)(?:@(?<range>.*))?$/
const TARBALL_FILE = /\.(?:tgz|tar|tar\.gz)$/i

type NpmOrigin = Pick<PackageEntry, 'name' | 'version' | 'source'>

/** Parses `"<key>": "<spec>"`: a version range of a registry, an address or a path. */
export function parseNpmRange(key: string, spec: string): NpmOrigin {
  const alias = ALIAS.exec(spec)?.groups
  if (alias?.['name'] !== undefined) {
    const { name, range } = { name: alias['name'], range: alias['range'] }
    const source = name === key ? 'registry' : `registry, installed as ${key}`
    return { name, version: range === undefined || range === '' ? '*' : range, source }
  }
  if (spec.startsWith('catalog:')) return { name: key, version: spec, source: 'registry' }
  if (isAddress(spec)) return { name: key, version: '*', source: spec }
  return { name: key, version: spec.trim() === '' ? '*' : spec.trim(), source: 'registry' }
}

/** npm reads `..` and `a.tgz` as paths, and `user/repo` as GitHub repositories. */
function isAddress(spec: string): boolean {
  return /[:/\\]/.test(spec) || spec.startsWith('.') || TARBALL_FILE.test(spec)
}

/** Shortens the usual address of a registry to `https://host/`. Returns other addresses unchanged. */
export function getRegistryAddress(name: string, version: string, resolved: string): string {
  const file = `${name.slice(name.indexOf('/') + 1)}-${version}.tgz`
  const usual = `/${name}/-/${file}`
  return resolved.endsWith(usual) ? resolved.slice(0, resolved.length - usual.length + 1) : resolved
}

// package.json

const RANGES = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
const OVERRIDES = ['overrides', 'resolutions', 'pnpm.overrides']

const ranges = z.record(z.string(), z.string())
type Overrides = string | { [key: string]: Overrides }
const overrides: z.ZodType<Overrides> = z.lazy(() => z.union([z.string(), z.record(z.string(), overrides)]))

export const packageJson: ManifestFormat = {
  ecosystem: 'npm',
  kind: 'manifest',
  matches: matchNames('package.json'),
  read: readPackageJson,
}

function readPackageJson(text: string): ManifestReading {
  const tree = parseJsonTree(text)
  const { fields, rest } = splitFields(tree, [...RANGES, ...OVERRIDES])
  return { packages: fields.flatMap(parsePackageJsonField), rest }
}

function parsePackageJsonField({ path, value }: Field): PackageEntry[] {
  if (OVERRIDES.includes(path.join('.'))) return listOverrides(overrides.parse(value), [])
  return listRangePackages(ranges.parse(value))
}

export function listRangePackages(wanted: Readonly<Record<string, string>>): PackageEntry[] {
  return Object.entries(wanted).map(([key, spec]) => toNpmRequest(key, spec))
}

/**
 * `{ "a": { "b": "1.0.0" } }` overrides b where a needs it. The key `.` is the package of the object itself.
 */
export function listOverrides(wanted: Overrides, within: readonly string[]): PackageEntry[] {
  if (typeof wanted !== 'string')
    return Object.entries(wanted).flatMap(([key, inner]) => listOverrides(inner, [...within, key]))
  const name = getOverriddenName(within.findLast(key => key !== '.') ?? '')
  const found = toNpmRequest(name, wanted)
  return [{ ...found, version: `${found.version} (overrides ${within.join('>')})`, direct: false }]
}

/** Parses `debug>ms`, `debug/ms`, `debug/@s/n` and `ms@^2`: returns the last package, without its range. */
function getOverriddenName(selector: string): string {
  const segments = selector.slice(selector.lastIndexOf('>') + 1).split('/')
  const isScoped = segments.at(-2)?.startsWith('@') ?? false
  return segments
    .slice(isScoped ? -2 : -1)
    .join('/')
    .replace(/(?<=.)@.*$/, '')
}

function toNpmRequest(key: string, spec: string): PackageEntry {
  return buildRequestedPackage(parseNpmRange(key, spec))
}

// package-lock.json

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

/** Members that describe the project itself. Changes to them show in package.json. */
const DESCRIBES = new Set(['name', 'version', 'lockfileVersion', 'requires', 'packages', 'dependencies'])
const FOLDER = 'node_modules/'

export const packageLock: ManifestFormat = {
  ecosystem: 'npm',
  kind: 'lockfile',
  matches: matchNames('package-lock.json', 'npm-shrinkwrap.json'),
  read: readPackageLock,
}

/** Newer versions of npm read `packages`, older ones `dependencies`. Packages of both count. */
function readPackageLock(text: string): ManifestReading {
  const tree = parseJsonTree(text)
  const { packages, dependencies } = lockfile.parse(tree)
  const others = Object.entries(tree).filter(([key]) => !DESCRIBES.has(key))
  const own = Object.entries(packages).filter(([key]) => !key.includes(FOLDER))
  const direct = new Set(own.flatMap(([, each]) => listWantedNames(each)))
  const found = Object.entries(packages).map(([key, each]) => ({
    key,
    each,
    converted: toInstalledPackages(key, each, direct),
  }))
  const places = new Map<string, InstalledPackage>()
  for (const { key, each, converted } of found)
    for (const one of converted)
      places.set(key, { package: one, needs: listNeededPlaces(packages, key, each) })
  return {
    packages: [
      ...found.flatMap(({ converted }) => converted),
      ...Object.entries(dependencies).flatMap(([key, each]) => listLegacyPackages(key, each)),
    ],
    rest: flattenPlaces(Object.fromEntries(others), 1),
    ...(places.size === 0 || Object.keys(packages).some(isTooDeep) ? {} : { installed: places }),
  }
}

/** Follows Node's lookup: in the package's own folder, then in each folder above. */
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

/** No real project nests this deep, and searching all its folders would take too long. */
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

/** npm does not fetch packages of this repository, so their entries must have no address. */
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

/** A file bundled in another package has no address. Shows one that is there anyway. */
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
