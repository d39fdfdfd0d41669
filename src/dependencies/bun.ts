import { z } from 'zod'
import { flattenOthers, type ManifestReading } from './manifest-format.ts'
import { buildPackage, type PackageEntry } from './package.ts'
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
const DESCRIBES = [...Object.keys(lockfile.shape), 'configVersion', 'overrides', 'catalog', 'catalogs']

/** Bun writes a comma after the last member of every object and list. */
export function readBunLock(text: string): ManifestReading {
  const tree = parseJsonTree(stripTrailingCommas(text))
  const { packages, workspaces, lockfileVersion } = lockfile.parse(tree)
  const direct = new Set(Object.values(workspaces).flatMap(each => Object.values(each).flatMap(Object.keys)))
  return {
    packages: Object.entries(packages).map(([key, each]) => ({
      ...toBunPackage(key, each, lockfileVersion),
      direct: direct.has(key),
    })),
    rest: flattenOthers(tree, DESCRIBES),
  }
}

function toBunPackage(key: string, [id, ...rest]: z.infer<typeof entry>, format: number): PackageEntry {
  const at = id.indexOf('@', 1)
  const name = at === -1 ? id : id.slice(0, at)
  const reference = at === -1 ? '' : id.slice(at + 1)
  const isVersion = /^\d/.test(reference)
  const [registry] = rest
  const registrySource = typeof registry === 'string' && registry !== '' ? registry : 'registry'
  const source = isVersion ? registrySource : reference
  const folder = /(?:@[^/]+\/)?[^/]+$/.exec(key)?.[0] ?? key
  const hash = rest.slice(1).findLast(each => typeof each === 'string')
  const runs = rest.some(each => typeof each !== 'string' && each['hasInstallScript'] === true)
  return buildPackage({
    name,
    version: isVersion ? reference : '*',
    source: folder === name ? source : `${source}, installed as ${folder}`,
    integrity: hash ?? null,
    scripts: format === 2 ? runs : null,
  })
}
