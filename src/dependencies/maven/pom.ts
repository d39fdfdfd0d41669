import { askedFor, type Package } from '../addition.ts'
import { type Format, named, type Reading, Unreadable } from '../format.ts'
import { type Element, parseXml, splitElements, textsIn } from '../xml-text.ts'

const LISTS = ['dependencies/dependency', 'dependencyManagement/dependencies/dependency']
const PLACES = LISTS.flatMap(list => [`project/${list}`, `project/profiles/profile/${list}`])

export const pom: Format = { ecosystem: 'maven', kind: 'manifest', holds: named('pom.xml'), read: readPom }

function readPom(text: string): Reading {
  const root = parseXml(text)
  if (root.name !== 'project') throw new Unreadable(`is about ${root.name}, not project`)
  const { taken, rest } = splitElements(root, PLACES)
  return { packages: taken.map(packageOf), rest }
}

/** A jar runs nothing when it is fetched. */
function packageOf(element: Element): Package {
  const { groupId, artifactId, version = '*', systemPath, ...others } = Object.fromEntries(textsIn(element))
  if (Object.keys(element.attributes).length > 0) throw new Unreadable('has attributes on a dependency')
  if (groupId === undefined || artifactId === undefined)
    throw new Unreadable('has a dependency without a name')
  const notes = Object.entries(others)
    .map(([key, value]) => `${key} ${value}`)
    .sort()
  const source = systemPath === undefined ? 'registry' : `path ${systemPath}`
  return { ...askedFor({ name: `${groupId}:${artifactId}`, version, source, notes }), scripts: false }
}
