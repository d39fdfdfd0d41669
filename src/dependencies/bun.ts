import { z } from 'zod'
import { flattenPlaces, type ManifestFormat, type ManifestReading, matchNames } from './manifest-format.ts'
import type { PackageEntry } from './package.ts'
import { parseJsonTree, stripTrailingCommas } from './text-formats.ts'

const wanted = z.record(z.string(), z.string()).default({})
const workspace = z.object({
  dependencies: wanted,
  devDependencies: wanted,
  optionalDependencies: wanted,
  peerDependencies: wanted,
})
const about = z.record(z.string(), z.unknown())
const entry = z.tuple([z.string()]).rest(z.union([z.string(), about]))

const lockfile = z.object({
  lockfileVersion: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  workspaces: z.record(z.string(), workspace),
  packages: z.record(z.string(), entry).default({}),
})

/** Members that repeat the manifests. Changes to them show in the manifests. */
const DESCRIBES = new Set([
  ...Object.keys(lockfile.shape),
  'configVersion',
  'overrides',
  'catalog',
  'catalogs',
])

export const bunLock: ManifestFormat = {
  ecosystem: 'npm',
  kind: 'lockfile',
  matches: matchNames('bun.lock'),
  read: readBunLock,
}

/** Bun writes a comma after the last member of every object and list. */
function readBunLock(text: string): ManifestReading {
  const tree = parseJsonTree(stripTrailingCommas(text))
  const { packages, workspaces, lockfileVersion } = lockfile.parse(tree)
  const direct = new Set(Object.values(workspaces).flatMap(each => Object.values(each).flatMap(Object.keys)))
  const others = Object.entries(tree).filter(([key]) => !DESCRIBES.has(key))
  const knowsScripts = lockfileVersion === 2
  return {
    packages: Object.entries(packages).map(([key, each]) =>
      toBunPackage(key, each, { direct, knowsScripts }),
    ),
    rest: flattenPlaces(Object.fromEntries(others), 1),
  }
}

type BunLockContext = { direct: ReadonlySet<string>; knowsScripts: boolean }

function toBunPackage(
  key: string,
  [id, ...rest]: z.infer<typeof entry>,
  context: BunLockContext,
): PackageEntry {
  const at = id.indexOf('@', 1)
  const name = at === -1 ? id : id.slice(0, at)
  const reference = at === -1 ? '' : id.slice(at + 1)
  const isVersion = /^\d/.test(reference)
  const [registry] = rest
  const source = !isVersion
    ? reference
    : typeof registry === 'string' && registry !== ''
      ? registry
      : 'registry'
  const folder = /(?:@[^/]+\/)?[^/]+$/.exec(key)?.[0] ?? key
  const hash = rest.slice(1).findLast(each => typeof each === 'string')
  const runs = rest.some(each => typeof each !== 'string' && each['hasInstallScript'] === true)
  return {
    name,
    version: isVersion ? reference : '*',
    source: folder === name ? source : `${source}, installed as ${folder}`,
    integrity: hash ?? null,
    direct: context.direct.has(key),
    scripts: context.knowsScripts ? runs : null,
    licence: null,
  }
}
