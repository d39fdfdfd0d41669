import { buildRequestedPackage, type PackageEntry } from '../addition.ts'
import { type ManifestFormat, type ManifestReading, Unreadable } from '../format.ts'
import { type XmlElement, parseXml, splitElements, readChildTexts } from '../xml-text.ts'

const PROJECT = /^(?:[^/]+\.)?(?:cs|fs|vb)proj$/
const SHARED = ['directory.packages.props', 'directory.build.props', 'directory.build.targets']
const ITEMS = ['PackageReference', 'PackageVersion', 'GlobalPackageReference']
const PLACES = ITEMS.map(item => `Project/ItemGroup/${item}`)

export const projectFile: ManifestFormat = {
  ecosystem: 'nuget',
  kind: 'manifest',
  holds: name => PROJECT.test(name) || SHARED.includes(name),
  read: readProjectFile,
}

function readProjectFile(text: string): ManifestReading {
  const root = parseXml(text)
  if (root.name !== 'Project') throw new Unreadable(`is about ${root.name}, not Project`)
  const { taken, rest } = splitElements(root, PLACES)
  return { packages: taken.map(toProjectPackage), rest }
}

/** What is said of a package stands in attributes or in elements, as one likes. */
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
