import { z } from 'zod'
import {
  appendToKey,
  type Field,
  flattenOthers,
  formatJson,
  formatValue,
  type InstalledPackage,
  type ManifestReading,
  splitFields,
} from './manifest-format.ts'
import { buildPackage, buildRequestedPackage, type PackageEntry } from './package.ts'
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

export function readCargoToml(text: string): ManifestReading {
  const { fields, rest } = splitFields(parseTomlTree(text), PLACES, 2)
  return { packages: fields.flatMap(parseCargoField), rest }
}

/** The place of a request counts: a patch applies to every crate, a target to some machines. */
function parseCargoField({ path, value }: Field): PackageEntry[] {
  const [head = '', inner] = path
  const place = head === 'patch' ? `patches ${inner ?? ''}` : head === 'replace' ? 'replaces' : null
  return Object.entries(z.record(z.string(), request).parse(value)).map(([key, wanted]) =>
    toCargoRequest(key, wanted, place),
  )
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
  return buildRequestedPackage({ name, version: formatValue(version), source }, notes)
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

export function readCargoLock(text: string): ManifestReading {
  const tree = parseTomlTree(text)
  const { package: packages, root, metadata, patch } = lockfile.parse(tree)
  const all = [...packages, ...(root === undefined ? [] : [root]), ...patch.unused]
  const own = all.filter(({ source }) => source === undefined)
  // Formats: `name`, `name 1.0.0`, `name 1.0.0 (registry+https://…)`.
  const direct = new Set(own.flatMap(({ dependencies }) => dependencies.map(each => each.split(' ')[0])))
  const found = all.map(each => ({ each, converted: toCargoPackage(each, direct, metadata) }))
  return {
    packages: found.map(({ converted }) => converted),
    rest: flattenOthers(tree, Object.keys(lockfile.shape)),
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
    for (const written of [name, `${name} ${version}`, `${name} ${version} (${source})`])
      appendToKey(places, written, [toCargoKey(each)])
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

function toCargoPackage(
  each: CargoLockEntry,
  direct: ReadonlySet<string | undefined>,
  metadata: Readonly<Record<string, string>>,
): PackageEntry {
  const { name, version, source, checksum } = each
  const old = metadata[`checksum ${name} ${version} (${source ?? ''})`]
  return buildPackage({
    name,
    version,
    source: source?.replace(/^registry\+/, '') ?? 'path',
    integrity: checksum ?? old ?? null,
    direct: direct.has(name),
  })
}
