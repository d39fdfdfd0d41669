import { z } from 'zod'
import {
  appendToKey,
  type Field,
  flattenOthers,
  formatJson,
  type InstalledPackage,
  type ManifestReading,
  splitFields,
  Unreadable,
} from './manifest-format.ts'
import { getRegistryAddress, listOverrides, listRangePackages } from './npm.ts'
import { buildPackage, buildRequestedPackage, type PackageEntry } from './package.ts'
import { parseYamlTree } from './text-formats.ts'

// pnpm-lock.yaml

const wanted = z.record(z.string(), z.object({ version: z.string() })).default({})
const kinds = { dependencies: wanted, devDependencies: wanted, optionalDependencies: wanted }
const about = z.unknown().optional()
const importer = z.strictObject({
  ...kinds,
  specifiers: about,
  dependenciesMeta: about,
  publishDirectory: about,
})
type Importer = Pick<z.infer<typeof importer>, keyof typeof kinds>

const entry = z.object({
  resolution: z.record(z.string(), z.unknown()),
  name: z.string().optional(),
  version: z.string().optional(),
  dependencies: about,
  optionalDependencies: about,
  requiresBuild: z.string().optional(),
})
type PnpmEntry = z.infer<typeof entry>

const lockfile = z.object({
  ...kinds,
  lockfileVersion: z.enum(['6.0', '6.1', '9.0']),
  importers: z.record(z.string(), importer).default({}),
  packages: z.record(z.string(), entry).default({}),
  snapshots: z.record(z.string(), z.unknown()).default({}),
})

/** Members that repeat the manifests, or that only describe how packages depend on each other. */
const DESCRIBES = [
  ...Object.keys(lockfile.shape),
  'settings',
  'catalogs',
  'overrides',
  'ignoredOptionalDependencies',
  'time',
]

export function readPnpmLock(text: string): ManifestReading {
  const tree = parseYamlTree(text)
  const lock = lockfile.parse(tree)
  for (const id of Object.keys(lock.snapshots))
    if (!Object.hasOwn(lock.packages, stripPeers(id)))
      throw new Unreadable(`has a snapshot of ${JSON.stringify(id)} and no such package`)
  const choices = [lock, ...Object.values(lock.importers)].flatMap(listPnpmChoices)
  const direct = new Set(choices.map(({ key, version }) => resolvePnpmId(key, version)))
  const links = choices.filter(({ version }) => version.startsWith('link:'))
  const found = Object.entries(lock.packages).map(([key, each]) => {
    const id = toPnpmId(key)
    const scripts = lock.lockfileVersion === '9.0' ? null : each.requiresBuild === 'true'
    return [id, { ...toPnpmPackage(id, each), direct: direct.has(id), scripts }] as const
  })
  return {
    packages: [
      ...found.map(([, each]) => each),
      ...links.map(({ key: name, version }) =>
        buildRequestedPackage({ name, version: '*', source: `path ${version.slice('link:'.length)}` }),
      ),
    ],
    rest: flattenOthers(tree, DESCRIBES),
    installed: collectPnpmInstalls(new Map(found), { ...lock.packages, ...lock.snapshots }),
  }
}

/** A package is the same with all sets of peers. The needs of all its snapshots count. */
function collectPnpmInstalls(
  packages: ReadonlyMap<string, PackageEntry>,
  snapshots: Readonly<Record<string, unknown>>,
): Map<string, InstalledPackage> {
  const needs = new Map<string, string[]>()
  for (const [key, each] of Object.entries(snapshots)) appendToKey(needs, toPnpmId(key), listPnpmNeeds(each))
  return new Map([...packages].map(([id, each]) => [id, { package: each, needs: needs.get(id) ?? [] }]))
}

const ranges = z.record(z.string(), z.string())
const needing = z.object({ dependencies: ranges.catch({}), optionalDependencies: ranges.catch({}) })

function listPnpmNeeds(snapshot: unknown): string[] {
  const { dependencies = {}, optionalDependencies = {} } = needing.safeParse(snapshot).data ?? {}
  const all = [dependencies, optionalDependencies].flatMap(each => Object.entries(each))
  return all.map(([key, version]) => resolvePnpmId(key, version))
}

function listPnpmChoices({ dependencies, devDependencies, optionalDependencies }: Importer) {
  const all = [dependencies, devDependencies, optionalDependencies].flatMap(each => Object.entries(each))
  return all.map(([key, { version }]) => ({ key, version }))
}

/**
 * `/ms@2.1.3(peer@1)`, and `2.1.3` under the key `ms`, both mean ms@2.1.3. An alias contains the other name.
 */
function resolvePnpmId(key: string, version: string): string {
  const chosen = toPnpmId(version)
  return /^\d[^@/]*$/.test(chosen) ? `${key}@${chosen}` : chosen
}

function stripPeers(key: string): string {
  const at = key.indexOf('(')
  return at === -1 ? key : key.slice(0, at)
}

function toPnpmId(key: string): string {
  return stripPeers(key).replace(/^\//, '')
}

function toPnpmPackage(id: string, each: PnpmEntry): PackageEntry {
  const at = id.indexOf('@', 1)
  const name = each.name ?? (at === -1 ? id : id.slice(0, at))
  const version = each.version ?? (at === -1 ? '*' : id.slice(at + 1))
  const { integrity, ...origin } = each.resolution
  return buildPackage({
    name,
    version,
    source: formatPnpmSource(name, version, origin),
    integrity: typeof integrity === 'string' ? integrity : null,
  })
}

function formatPnpmSource(name: string, version: string, origin: Readonly<Record<string, unknown>>): string {
  const { tarball, repo, commit, directory, type } = origin
  const keys = Object.keys(origin)
    .filter(key => key !== 'type')
    .sort()
    .join(' ')
  if (keys === '' && type === undefined) return 'registry'
  if (keys === 'tarball' && typeof tarball === 'string') return getRegistryAddress(name, version, tarball)
  if (keys === 'commit repo') return `git ${String(repo)}#${String(commit)}`
  if (keys === 'directory') return `path ${String(directory)}`
  return formatJson(origin)
}

// pnpm-workspace.yaml

export function readPnpmWorkspace(text: string): ManifestReading {
  const { fields, rest } = splitFields(parseYamlTree(text), ['catalog', 'catalogs.*', 'overrides'])
  return { packages: fields.flatMap(parsePnpmWorkspaceField), rest }
}

function parsePnpmWorkspaceField({ path: [place], value }: Field): PackageEntry[] {
  return place === 'overrides' ? listOverrides(ranges.parse(value), []) : listRangePackages(value)
}
