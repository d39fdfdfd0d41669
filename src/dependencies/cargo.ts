import { z } from 'zod'
import {
  appendToKey,
  type Field,
  flattenPlaces,
  formatJson,
  formatValue,
  type InstalledPackage,
  type ManifestFormat,
  type ManifestReading,
  matchNames,
  splitFields,
} from './manifest-format.ts'
import { buildRequestedPackage, type PackageEntry } from './package.ts'
import { parseTomlTree } from './text-formats.ts'

// Cargo.toml

const KINDS = ['dependencies', 'dev-dependencies', 'build-dependencies']
const PLACES = [
  ...KINDS,
  ...KINDS.map(kind => `target.*.${kind}`),
  'workspace.dependencies',
  'patch.*',
  'replace',
]

const request = z.union([z.string(), z.record(z.string(), z.unknown())])
const requests = z.record(z.string(), request)

export const cargoToml: ManifestFormat = {
  ecosystem: 'cargo',
  kind: 'manifest',
  matches: matchNames('cargo.toml'),
  read: readCargoToml,
}

function readCargoToml(text: string): ManifestReading {
  const { fields, rest } = splitFields(parseTomlTree(text), PLACES, 2)
  return { packages: fields.flatMap(parseCargoField), rest }
}

/** The place of a request counts: a patch applies to every crate, a target to some machines. */
function parseCargoField({ path, value }: Field): PackageEntry[] {
  const [head = '', inner] = path
  const place = head === 'patch' ? `patches ${inner ?? ''}` : head === 'replace' ? 'replaces' : null
  return Object.entries(requests.parse(value)).map(([key, wanted]) => toCargoRequest(key, wanted, place))
}

function toCargoRequest(key: string, wanted: z.infer<typeof request>, place: string | null): PackageEntry {
  const table = typeof wanted === 'string' ? { version: wanted } : wanted
  const { version = '*', package: actual, git, path, registry, 'registry-index': index, ...others } = table
  const { branch, tag, rev, ...options } = others
  const name = typeof actual === 'string' ? actual : key.replace(/:.*$/, '')
  const chosen = [branch, tag, rev].filter(each => each !== undefined)
  const sources = [
    ...(path === undefined ? [] : [`path ${formatValue(path)}`]),
    ...(git === undefined ? [] : [`git ${[git, ...chosen].map(formatValue).join('#')}`]),
    ...[registry, index].filter(each => each !== undefined).map(formatValue),
  ]
  const notes = [place, key === name ? null : `as ${key}`, formatCargoOptions(options)].filter(
    each => each !== null,
  )
  const source = sources.length === 0 ? 'registry' : sources.join(', ')
  return buildRequestedPackage({ name, version: formatValue(version), source, notes })
}

function formatCargoOptions(options: Readonly<Record<string, unknown>>): string | null {
  const entries = Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.length === 0 ? null : entries.map(([key, value]) => `${key} ${formatJson(value)}`).join(', ')
}

// Cargo.lock

const entry = z.object({
  name: z.string(),
  version: z.string(),
  source: z.string().optional(),
  checksum: z.string().optional(),
  dependencies: z.array(z.string()).default([]),
})
type CargoLockEntry = z.infer<typeof entry>

const lockfile = z.object({
  version: z.int().min(1).max(4).default(1),
  package: z.array(entry).default([]),
  root: entry.optional(),
  /** Version 1 of the format keeps the checksums here. */
  metadata: z.record(z.string(), z.string()).default({}),
  patch: z.object({ unused: z.array(entry).default([]) }).default({ unused: [] }),
})

export const cargoLock: ManifestFormat = {
  ecosystem: 'cargo',
  kind: 'lockfile',
  matches: matchNames('cargo.lock'),
  read: readCargoLock,
}

function readCargoLock(text: string): ManifestReading {
  const tree = parseTomlTree(text)
  const { package: packages, root, metadata, patch } = lockfile.parse(tree)
  const all = [...packages, ...(root === undefined ? [] : [root]), ...patch.unused]
  const own = all.filter(({ source }) => source === undefined)
  const direct = new Set(own.flatMap(({ dependencies }) => dependencies.map(getCargoName)))
  const others = Object.entries(tree).filter(([key]) => !(key in lockfile.shape))
  const found = all.map(each => ({ each, converted: toCargoPackage(each, direct, metadata) }))
  return {
    packages: found.map(({ converted }) => converted),
    rest: flattenPlaces(Object.fromEntries(others), 1),
    installed: collectCargoInstalls(found),
  }
}

/** Keys cover every way in which Cargo may write a dependency: it uses the shortest unambiguous one. */
function collectCargoInstalls(
  found: readonly { each: CargoLockEntry; converted: PackageEntry }[],
): Map<string, InstalledPackage> {
  const places = new Map<string, string[]>()
  for (const { each } of found) {
    const { name, version, source = '' } = each
    const full = toCargoKey(each)
    for (const written of [name, `${name} ${version}`, `${name} ${version} (${source})`]) {
      appendToKey(places, written, [full])
    }
  }
  const installed = new Map<string, InstalledPackage>()
  for (const [written, needs] of places) installed.set(written, { package: null, needs })
  for (const { each, converted } of found)
    installed.set(toCargoKey(each), { package: converted, needs: each.dependencies })
  return installed
}

function toCargoKey({ name, version, source = '' }: CargoLockEntry): string {
  return JSON.stringify([name, version, source])
}

/** Formats: `name`, `name 1.0.0`, `name 1.0.0 (registry+https://…)`. */
function getCargoName(dependency: string): string {
  return dependency.split(' ')[0] ?? dependency
}

function toCargoPackage(
  each: CargoLockEntry,
  direct: ReadonlySet<string>,
  metadata: Readonly<Record<string, string>>,
): PackageEntry {
  const { name, version, source, checksum } = each
  const old = metadata[`checksum ${name} ${version} (${source ?? ''})`]
  return {
    name,
    version,
    source: source?.replace(/^registry\+/, '') ?? 'path',
    integrity: checksum ?? old ?? null,
    direct: direct.has(name),
    scripts: null,
    licence: null,
  }
}
