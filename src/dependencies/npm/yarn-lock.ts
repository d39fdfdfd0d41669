import { z } from 'zod'
import { type ManifestFormat, matchNames, type ManifestReading, Unreadable } from '../format.ts'
import { parseYamlTree } from '../yaml-text.ts'
import { parseNpmRange, getRegistryAddress } from './spec.ts'
import { parseYarnClassic, type YarnEntry } from './yarn-classic.ts'
import { collectYarnInstalls, listDescriptorSpellings, type YarnInstall } from './yarn-needs.ts'

const wanted = z.record(z.string(), z.string()).default({})
const berryEntry = z.object({
  version: z.string(),
  resolution: z.string(),
  checksum: z.string().optional(),
  dependencies: wanted,
})
type BerryEntry = z.infer<typeof berryEntry>

const UNKNOWN = { direct: null, scripts: null, licence: null }

export const yarnLock: ManifestFormat = {
  ecosystem: 'npm',
  kind: 'lockfile',
  holds: matchNames('yarn.lock'),
  read: readYarnLock,
}

function readYarnLock(text: string): ManifestReading {
  const isBerry = /^__metadata:\s*$/m.test(text)
  if (isBerry && /^#.*yarn lockfile v1/im.test(text)) throw new Unreadable('says it is of two versions')
  const entries = isBerry ? parseBerryEntries(text) : parseYarnClassic(text).map(toClassicInstall)
  const packages = entries.flatMap(({ found }) => found.map(each => each.package))
  return { packages, rest: new Map(), installed: collectYarnInstalls(entries) }
}

function toClassicInstall({ descriptors, fields, wanted }: YarnEntry): YarnInstall {
  const version = fields.get('version')
  if (version === undefined) throw new Unreadable(`has no version for ${descriptors.join(', ')}`)
  const [url, hash] = splitResolvedUrl(fields.get('resolved'))
  const integrity = [fields.get('integrity'), hash].filter(each => each !== undefined).join(' ')
  const found = descriptors.map(descriptor => {
    const { name, alias } = parseDescriptorNames(descriptor)
    const source = formatAliasedSource(
      alias,
      name,
      url === undefined ? 'registry' : getRegistryAddress(name, version, url),
    )
    const known = { integrity: integrity === '' ? null : integrity, ...UNKNOWN }
    return { descriptor, package: { name, version, source, ...known } }
  })
  return { found, wanted: wanted.map(([name, range]) => [`${name}@${range}`]) }
}

/** The part after # is the hash of the file, or the commit, that has to be found there. */
function splitResolvedUrl(resolved: string | undefined): [url: string | undefined, hash: string | undefined] {
  const at = resolved?.indexOf('#') ?? -1
  return at === -1 ? [resolved, undefined] : [resolved?.slice(0, at), resolved?.slice(at)]
}

function parseBerryEntries(text: string): YarnInstall[] {
  const { __metadata: _, ...members } = parseYamlTree(text)
  const entries = Object.entries(z.record(z.string(), berryEntry).parse(members))
  const own = entries.filter(([, { resolution }]) => getWorkspacePath(resolution) !== null)
  const direct = new Set(own.flatMap(([, each]) => listBerryNeeds(each).flat()))
  return entries.map(([key, each]) => {
    const descriptors = key.split(', ')
    const isDirect = descriptors.some(descriptor => direct.has(descriptor))
    return { found: listBerryPackages(descriptors, each, isDirect), wanted: listBerryNeeds(each) }
  })
}

function listBerryNeeds({ dependencies }: BerryEntry): string[][] {
  return Object.entries(dependencies).map(([name, range]) => listDescriptorSpellings(`${name}@${range}`))
}

function listBerryPackages(
  descriptors: readonly string[],
  { resolution, version, checksum }: BerryEntry,
  direct: boolean,
): YarnInstall['found'] {
  const { name, rest: reference } = splitDescriptor(resolution)
  if (getWorkspacePath(resolution) === '.') return []
  const source = reference === `npm:${version}` ? 'registry' : reference
  return descriptors.map(descriptor => {
    const installed = formatAliasedSource(splitDescriptor(descriptor).name, name, source)
    const known = { integrity: checksum ?? null, ...UNKNOWN, direct }
    return { descriptor, package: { name, version, source: installed, ...known } }
  })
}

function getWorkspacePath(resolution: string): string | null {
  const { rest } = splitDescriptor(resolution)
  return rest.startsWith('workspace:') ? rest.slice('workspace:'.length) : null
}

function splitDescriptor(descriptor: string): { name: string; rest: string } {
  const at = descriptor.indexOf('@', 1)
  if (at === -1) throw new Unreadable(`names ${JSON.stringify(descriptor)} without a range`)
  return { name: descriptor.slice(0, at), rest: descriptor.slice(at + 1) }
}

/** Who asks for a by another name gets a; who asks for b and gets the same files gets another package. */
function parseDescriptorNames(descriptor: string): { name: string; alias: string } {
  const { name: alias, rest } = splitDescriptor(descriptor)
  return { name: parseNpmRange(alias, rest).name, alias }
}

function formatAliasedSource(alias: string, name: string, source: string): string {
  return alias === name ? source : `${source}, installed as ${alias}`
}
