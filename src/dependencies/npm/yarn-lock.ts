import { z } from 'zod'
import { type Format, named, type Reading, Unreadable } from '../format.ts'
import { parseYamlTree } from '../yaml-text.ts'
import { originOf, registryOf } from './spec.ts'
import { parseClassic, type YarnEntry } from './yarn-classic.ts'
import { installedIn, spellingsOf, type YarnInstall } from './yarn-needs.ts'

const wanted = z.record(z.string(), z.string()).default({})
const berryEntry = z.object({
  version: z.string(),
  resolution: z.string(),
  checksum: z.string().optional(),
  dependencies: wanted,
})
type BerryEntry = z.infer<typeof berryEntry>

const UNKNOWN = { direct: null, scripts: null, licence: null }

export const yarnLock: Format = {
  ecosystem: 'npm',
  kind: 'lockfile',
  holds: named('yarn.lock'),
  read: readYarnLock,
}

function readYarnLock(text: string): Reading {
  const isBerry = /^__metadata:\s*$/m.test(text)
  if (isBerry && /^#.*yarn lockfile v1/im.test(text)) throw new Unreadable('says it is of two versions')
  const entries = isBerry ? berryEntries(text) : parseClassic(text).map(classicEntry)
  const packages = entries.flatMap(({ found }) => found.map(each => each.package))
  return { packages, rest: new Map(), installed: installedIn(entries) }
}

function classicEntry({ descriptors, fields, wanted }: YarnEntry): YarnInstall {
  const version = fields.get('version')
  if (version === undefined) throw new Unreadable(`has no version for ${descriptors.join(', ')}`)
  const [url, hash] = addressOf(fields.get('resolved'))
  const integrity = [fields.get('integrity'), hash].filter(each => each !== undefined).join(' ')
  const found = descriptors.map(descriptor => {
    const { name, alias } = namesIn(descriptor)
    const source = installedAs(alias, name, url === undefined ? 'registry' : registryOf(name, version, url))
    const known = { integrity: integrity === '' ? null : integrity, ...UNKNOWN }
    return { descriptor, package: { name, version, source, ...known } }
  })
  return { found, wanted: wanted.map(([name, range]) => [`${name}@${range}`]) }
}

/** The part after # is the hash of the file, or the commit, that has to be found there. */
function addressOf(resolved: string | undefined): [url: string | undefined, hash: string | undefined] {
  const at = resolved?.indexOf('#') ?? -1
  return at === -1 ? [resolved, undefined] : [resolved?.slice(0, at), resolved?.slice(at)]
}

function berryEntries(text: string): YarnInstall[] {
  const { __metadata: _, ...members } = parseYamlTree(text)
  const entries = Object.entries(z.record(z.string(), berryEntry).parse(members))
  const own = entries.filter(([, { resolution }]) => localPath(resolution) !== null)
  const direct = new Set(own.flatMap(([, each]) => wantedBy(each).flat()))
  return entries.map(([key, each]) => {
    const descriptors = key.split(', ')
    const isDirect = descriptors.some(descriptor => direct.has(descriptor))
    return { found: berryPackages(descriptors, each, isDirect), wanted: wantedBy(each) }
  })
}

function wantedBy({ dependencies }: BerryEntry): string[][] {
  return Object.entries(dependencies).map(([name, range]) => spellingsOf(`${name}@${range}`))
}

function berryPackages(
  descriptors: readonly string[],
  { resolution, version, checksum }: BerryEntry,
  direct: boolean,
): YarnInstall['found'] {
  const { name, rest: reference } = cut(resolution)
  if (localPath(resolution) === '.') return []
  const source = reference === `npm:${version}` ? 'registry' : reference
  return descriptors.map(descriptor => {
    const installed = installedAs(cut(descriptor).name, name, source)
    const known = { integrity: checksum ?? null, ...UNKNOWN, direct }
    return { descriptor, package: { name, version, source: installed, ...known } }
  })
}

function localPath(resolution: string): string | null {
  const { rest } = cut(resolution)
  return rest.startsWith('workspace:') ? rest.slice('workspace:'.length) : null
}

function cut(descriptor: string): { name: string; rest: string } {
  const at = descriptor.indexOf('@', 1)
  if (at === -1) throw new Unreadable(`names ${JSON.stringify(descriptor)} without a range`)
  return { name: descriptor.slice(0, at), rest: descriptor.slice(at + 1) }
}

/** Who asks for a by another name gets a; who asks for b and gets the same files gets another package. */
function namesIn(descriptor: string): { name: string; alias: string } {
  const { name: alias, rest } = cut(descriptor)
  return { name: originOf(alias, rest).name, alias }
}

function installedAs(alias: string, name: string, source: string): string {
  return alias === name ? source : `${source}, installed as ${alias}`
}
