import { z } from 'zod'
import { flattenOthers, type ManifestReading, Unreadable } from './manifest-format.ts'
import { buildPackage, buildRequestedPackage, type PackageEntry } from './package.ts'
import { parseJsonTree, parseXml, readChildTexts, splitElements, type XmlElement } from './text-formats.ts'

// Project files

const PLACES = ['PackageReference', 'PackageVersion', 'GlobalPackageReference'].map(
  item => `Project/ItemGroup/${item}`,
)

export function readProjectFile(text: string): ManifestReading {
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
  const notes = Object.entries(others).map(([key, value]) => `${key} ${value}`)
  return buildRequestedPackage({ name, version: Version }, [...about, ...notes.sort()])
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

/** The lockfile has one list per target framework. Projects of the same repository are not fetched. */
export function readPackagesLock(text: string): ManifestReading {
  const tree = parseJsonTree(text)
  const { dependencies } = lockfile.parse(tree)
  const entries = Object.values(dependencies).flatMap(each => Object.entries(each))
  const packages = entries.flatMap(([name, each]) => {
    if (each.type === 'Project') return []
    const { resolved: version, contentHash: integrity = null, type } = each
    return buildPackage({ name, version, integrity, direct: type === 'Direct' })
  })
  return { packages, rest: flattenOthers(tree, Object.keys(lockfile.shape)) }
}
