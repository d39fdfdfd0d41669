import { z } from 'zod'
import {
  flattenPlaces,
  type ManifestFormat,
  type ManifestReading,
  matchNames,
  Unreadable,
} from './manifest-format.ts'
import { buildRequestedPackage, type PackageEntry } from './package.ts'
import { parseJsonTree, parseXml, readChildTexts, splitElements, type XmlElement } from './text-formats.ts'

// Project files

const PROJECT = /^(?:[^/]+\.)?(?:cs|fs|vb)proj$/
const SHARED = ['directory.packages.props', 'directory.build.props', 'directory.build.targets']
const ITEMS = ['PackageReference', 'PackageVersion', 'GlobalPackageReference']
const PLACES = ITEMS.map(item => `Project/ItemGroup/${item}`)

export const projectFile: ManifestFormat = {
  ecosystem: 'nuget',
  kind: 'manifest',
  matches: name => PROJECT.test(name) || SHARED.includes(name),
  read: readProjectFile,
}

function readProjectFile(text: string): ManifestReading {
  const root = parseXml(text)
  if (root.name !== 'Project') throw new Unreadable(`is about ${root.name}, not Project`)
  const { taken, rest } = splitElements(root, PLACES)
  return { packages: taken.map(toProjectPackage), rest }
}

/** NuGet accepts these values as attributes or as elements. */
function toProjectPackage(element: XmlElement): PackageEntry {
  const texts = new Map(Object.entries(element.attributes))
  for (const [key, text] of readChildTexts(element)) {
    if (texts.has(key)) throw new Unreadable(`says ${key} twice of one package`)
    texts.set(key, text)
  }
  for (const text of texts.values())
    if (text.replace(/\$\(\w+\)/g, '').includes('$('))
      throw new Unreadable(`computes ${JSON.stringify(text)}`)
  const { Include, Update, Version = '*', ...others } = Object.fromEntries(texts)
  const name = Include ?? Update
  if (name === undefined) throw new Unreadable(`has a ${element.name} without Include`)
  const about = element.name === 'PackageReference' ? [] : [element.name]
  const notes = [
    ...about,
    ...Object.entries(others)
      .map(([key, value]) => `${key} ${value}`)
      .sort(),
  ]
  return buildRequestedPackage({ name, version: Version, notes })
}

// packages.lock.json

const entry = z.discriminatedUnion('type', [
  z.object({
    type: z.enum(['Direct', 'Transitive', 'CentralTransitive']),
    resolved: z.string(),
    contentHash: z.string().optional(),
  }),
  z.object({ type: z.literal('Project') }),
])

const lockfile = z.object({
  version: z.union([z.literal(1), z.literal(2)]),
  dependencies: z.record(z.string(), z.record(z.string(), entry)),
})

export const packagesLock: ManifestFormat = {
  ecosystem: 'nuget',
  kind: 'lockfile',
  matches: matchNames('packages.lock.json'),
  read: readPackagesLock,
}

/** The lockfile has one list per target framework. Projects of the same repository are not fetched. */
function readPackagesLock(text: string): ManifestReading {
  const tree = parseJsonTree(text)
  const { dependencies } = lockfile.parse(tree)
  const others = Object.entries(tree).filter(([key]) => !(key in lockfile.shape))
  const entries = Object.values(dependencies).flatMap(each => Object.entries(each))
  return {
    packages: entries.flatMap(([name, each]) => toNugetPackages(name, each)),
    rest: flattenPlaces(Object.fromEntries(others), 1),
  }
}

function toNugetPackages(name: string, each: z.infer<typeof entry>): PackageEntry[] {
  if (each.type === 'Project') return []
  const { resolved: version, contentHash, type } = each
  const integrity = contentHash ?? null
  return [
    { name, version, source: 'registry', integrity, direct: type === 'Direct', scripts: null, licence: null },
  ]
}
