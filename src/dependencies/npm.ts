import { z } from 'zod'
import {
  type Field,
  flattenOthers,
  type InstalledPackage,
  type ManifestReading,
  splitFields,
  Unreadable,
} from './manifest-format.ts'
import { buildPackage, buildRequestedPackage, type PackageEntry } from './package.ts'
import { parseJsonTree } from './text-formats.ts'

// Requests

const ALIAS = /^npm:(?<name>@?[^@]+)(?:@(?<range>.*))?$/
const TARBALL_FILE = /\.(?:tgz|tar|tar\.gz)$/i

type NpmOrigin = Pick<PackageEntry, 'name' | 'version' | 'source'>

/** Parses `"<key>": "<spec>"`: a version range of a registry, an address or a path. */
export function parseNpmRange(key: string, spec: string): NpmOrigin {
  const alias = ALIAS.exec(spec)?.groups
  if (alias?.['name'] !== undefined) {
    const { name, range } = alias
    return {
      name,
      version: range || '*',
      source: name === key ? 'registry' : `registry, installed as ${key}`,
    }
  }
  if (spec.startsWith('catalog:')) return { name: key, version: spec, source: 'registry' }
  // npm reads `..` and `a.tgz` as paths, and `user/repo` as GitHub repositories.
  const isAddress = /[:/\\]/.test(spec) || spec.startsWith('.') || TARBALL_FILE.test(spec)
  return isAddress
    ? { name: key, version: '*', source: spec }
    : { name: key, version: spec.trim() || '*', source: 'registry' }
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

type Overrides = string | { [key: string]: Overrides }
const overrides: z.ZodType<Overrides> = z.lazy(() => z.union([z.string(), z.record(z.string(), overrides)]))

export function readPackageJson(text: string): ManifestReading {
  const { fields, rest } = splitFields(parseJsonTree(text), [...RANGES, ...OVERRIDES])
  return { packages: fields.flatMap(parsePackageJsonField), rest }
}

function parsePackageJsonField({ path, value }: Field): PackageEntry[] {
  if (OVERRIDES.includes(path.join('.'))) return listOverrides(overrides.parse(value), [])
  return listRangePackages(value)
}

export function listRangePackages(value: unknown): PackageEntry[] {
  const wanted = z.record(z.string(), z.string()).parse(value)
  return Object.entries(wanted).map(([key, spec]) => buildRequestedPackage(parseNpmRange(key, spec)))
}

/**
 * `{ "a": { "b": "1.0.0" } }` overrides b where a needs it. The key `.` is the package of the object itself.
 */
export function listOverrides(wanted: Overrides, within: readonly string[]): PackageEntry[] {
  if (typeof wanted !== 'string')
    return Object.entries(wanted).flatMap(([key, inner]) => listOverrides(inner, [...within, key]))
  const name = getOverriddenName(within.findLast(key => key !== '.') ?? '')
  const request = buildRequestedPackage(parseNpmRange(name, wanted), [`overrides ${within.join('>')}`])
  return [{ ...request, direct: false }]
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
const DESCRIBES = ['name', 'version', 'lockfileVersion', 'requires', 'packages', 'dependencies']
const FOLDER = 'node_modules/'

/** Newer versions of npm read `packages`, older ones `dependencies`. Packages of both count. */
export function readPackageLock(text: string): ManifestReading {
  const tree = parseJsonTree(text)
  const { packages, dependencies } = lockfile.parse(tree)
  const own = Object.entries(packages).filter(([key]) => !key.includes(FOLDER))
  const direct = new Set(
    own.flatMap(([, each]) => [...listNeededNames(each), ...Object.keys(each.devDependencies)]),
  )
  const installed = new Map<string, InstalledPackage>()
  for (const [key, each] of Object.entries(packages)) {
    const found = toInstalledPackage(key, each, direct)
    if (found !== null) installed.set(key, { package: found, needs: listNeededPlaces(packages, key, each) })
  }
  // No real project nests this deep, and searching all its folders would take too long.
  const isTooDeep = Object.keys(packages).some(key => key.split('/').length > 100)
  return {
    packages: [
      ...[...installed.values()].flatMap(each => each.package ?? []),
      ...Object.entries(dependencies).flatMap(([key, each]) => listLegacyPackages(key, each)),
    ],
    rest: flattenOthers(tree, DESCRIBES),
    ...(installed.size === 0 || isTooDeep ? {} : { installed }),
  }
}

/** Follows Node's lookup: in the package's own folder, then in each folder above. */
function listNeededPlaces(
  packages: Readonly<Record<string, PackageLockEntry>>,
  key: string,
  each: PackageLockEntry,
): string[] {
  return listNeededNames(each).flatMap(name => {
    for (let folder = key; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
      const place = `${folder === '' ? '' : `${folder}/`}${FOLDER}${name}`
      if (Object.hasOwn(packages, place)) return [place]
      if (folder === '') return []
    }
  })
}

function listNeededNames({ dependencies, optionalDependencies, peerDependencies }: PackageLockEntry) {
  return [dependencies, optionalDependencies, peerDependencies].flatMap(Object.keys)
}

/** Null: a package of this repository, which npm does not fetch. Its entry must have no address. */
function toInstalledPackage(
  key: string,
  each: PackageLockEntry,
  wanted: ReadonlySet<string>,
): PackageEntry | null {
  const at = key.lastIndexOf(FOLDER)
  if (at === -1) {
    if (each.resolved === undefined) return null
    throw new Unreadable(`fetches ${JSON.stringify(key)}, which is not in ${FOLDER}, from ${each.resolved}`)
  }
  if (key.split('/').includes('..'))
    throw new Unreadable(`installs outside the project: ${JSON.stringify(key)}`)
  const folder = key.slice(at + FOLDER.length)
  const name = each.name ?? folder
  const { version = '*', link, resolved, inBundle: bundled } = each
  const source = link
    ? `path ${resolved ?? 'unknown'}`
    : formatFetchSource(name, version, { resolved, bundled })
  return {
    name,
    version,
    source: `${source}${name === folder ? '' : `, installed as ${folder}`}`,
    integrity: each.integrity ?? null,
    direct: wanted.has(folder) && key.indexOf(FOLDER) === at,
    scripts: link ? null : each.hasInstallScript,
    licence: typeof each.license === 'string' ? each.license : null,
  }
}

/** A file bundled in another package has no address. Shows one that is there anyway. */
function formatFetchSource(
  name: string,
  version: string,
  { resolved, bundled }: { resolved?: string | undefined; bundled: boolean },
): string {
  const address = resolved === undefined ? null : getRegistryAddress(name, version, resolved)
  if (bundled) return address === null ? 'bundled' : `bundled or ${address}`
  return address ?? 'registry'
}

function listLegacyPackages(name: string, each: LegacyEntry): PackageEntry[] {
  const inner = Object.entries(each.dependencies).flatMap(([key, nested]) => listLegacyPackages(key, nested))
  const alias = /^npm:(?<actual>@?[^@]+)@(?<version>.+)$/.exec(each.version)?.groups
  const actual = alias?.['actual'] ?? name
  const version = alias?.['version'] ?? each.version
  const place = /[:/]/.test(version) ? version : formatFetchSource(actual, version, each)
  const source = `${place}${actual === name ? '' : `, installed as ${name}`}`
  return [buildPackage({ name: actual, version, source, integrity: each.integrity ?? null }), ...inner]
}
