import { z } from 'zod'
import type { Package } from '../addition.ts'
import { type Format, named, type Reading, Unreadable } from '../format.ts'
import { parseYamlTree } from '../yaml-text.ts'
import { originOf, registryOf } from './spec.ts'
import { parseClassic, type YarnEntry } from './yarn-classic.ts'

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
  const packages = isBerry ? berryPackages(text) : parseClassic(text).flatMap(classicPackages)
  return { packages, rest: new Map() }
}

function classicPackages({ descriptors, fields }: YarnEntry): Package[] {
  const version = fields.get('version')
  if (version === undefined) throw new Unreadable(`has no version for ${descriptors.join(', ')}`)
  const [url, hash] = addressOf(fields.get('resolved'))
  const integrity = [fields.get('integrity'), hash].filter(each => each !== undefined).join(' ')
  return namesOf(descriptors).map(({ name, alias }) => ({
    name,
    version,
    source: installedAs(alias, name, url === undefined ? 'registry' : registryOf(name, version, url)),
    integrity: integrity === '' ? null : integrity,
    ...UNKNOWN,
  }))
}

/** The part after # is the hash of the file, or the commit, that has to be found there. */
function addressOf(resolved: string | undefined): [url: string | undefined, hash: string | undefined] {
  const at = resolved?.indexOf('#') ?? -1
  return at === -1 ? [resolved, undefined] : [resolved?.slice(0, at), resolved?.slice(at)]
}

function berryPackages(text: string): Package[] {
  const { __metadata: _, ...members } = parseYamlTree(text)
  const entries = Object.entries(z.record(z.string(), berryEntry).parse(members))
  const own = entries.filter(([, { resolution }]) => localPath(resolution) !== null)
  const direct = new Set(own.flatMap(([, { dependencies }]) => Object.entries(dependencies).flatMap(askedAs)))
  return entries.flatMap(([key, each]) => {
    const descriptors = key.split(', ')
    const isDirect = descriptors.some(descriptor => direct.has(descriptor))
    return berryPackage(descriptors, each).map(found => ({ ...found, direct: isDirect }))
  })
}

function askedAs([name, range]: [string, string]): string[] {
  return [`${name}@${range}`, `${name}@npm:${range}`]
}

function berryPackage(descriptors: readonly string[], each: BerryEntry): Package[] {
  const { resolution, version, checksum } = each
  const { name, rest: reference } = cut(resolution)
  if (localPath(resolution) === '.') return []
  const source = reference === `npm:${version}` ? 'registry' : reference
  const aliases = new Set(descriptors.map(descriptor => cut(descriptor).name))
  return [...aliases].map(alias => ({
    name,
    version,
    source: installedAs(alias, name, source),
    integrity: checksum ?? null,
    ...UNKNOWN,
  }))
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
function namesOf(descriptors: readonly string[]): { name: string; alias: string }[] {
  const names = descriptors.map(descriptor => {
    const { name: alias, rest } = cut(descriptor)
    return { name: originOf(alias, rest).name, alias }
  })
  return names.filter(({ name, alias }, at) => {
    return names.findIndex(other => other.name === name && other.alias === alias) === at
  })
}

function installedAs(alias: string, name: string, source: string): string {
  return alias === name ? source : `${source}, installed as ${alias}`
}
