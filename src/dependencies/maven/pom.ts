import { buildRequestedPackage, type PackageEntry } from '../addition.ts'
import { type ManifestFormat, matchNames, type ManifestReading, Unreadable } from '../format.ts'
import { type XmlElement, parseXml, splitElements, readChildTexts } from '../xml-text.ts'

const LISTS = ['dependencies/dependency', 'dependencyManagement/dependencies/dependency']
const PLACES = LISTS.flatMap(list => [`project/${list}`, `project/profiles/profile/${list}`])

export const pom: ManifestFormat = {
  ecosystem: 'maven',
  kind: 'manifest',
  holds: matchNames('pom.xml'),
  read: readPom,
}

function readPom(text: string): ManifestReading {
  const root = parseXml(text)
  if (root.name !== 'project') throw new Unreadable(`is about ${root.name}, not project`)
  const { taken, rest } = splitElements(root, PLACES)
  return { packages: taken.map(toPomPackage), rest }
}

/** A jar runs nothing when it is fetched. */
function toPomPackage(element: XmlElement): PackageEntry {
  const {
    groupId,
    artifactId,
    version = '*',
    systemPath,
    ...others
  } = Object.fromEntries(readChildTexts(element))
  if (Object.keys(element.attributes).length > 0) throw new Unreadable('has attributes on a dependency')
  if (groupId === undefined || artifactId === undefined)
    throw new Unreadable('has a dependency without a name')
  const notes = Object.entries(others)
    .map(([key, value]) => `${key} ${value}`)
    .sort()
  const source = systemPath === undefined ? 'registry' : `path ${systemPath}`
  return {
    ...buildRequestedPackage({ name: `${groupId}:${artifactId}`, version, source, notes }),
    scripts: false,
  }
}
