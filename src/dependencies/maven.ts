import { z } from 'zod'
import {
  flattenPlaces,
  formatJson,
  formatValue,
  type ManifestReading,
  Unreadable,
} from './manifest-format.ts'
import { buildRequestedPackage, type PackageEntry } from './package.ts'
import { parseTomlTree, parseXml, readChildTexts, splitElements, type XmlElement } from './text-formats.ts'

/** Coordinates are `group:artifact:version`. */
function toMavenPackage(coordinates: string, notes: readonly string[]): PackageEntry {
  const [group = '', artifact = '', version = '*', ...more] = coordinates.split(':')
  const all = [...more.map(each => `classifier ${each}`), ...notes]
  // Fetching a jar runs no code.
  return buildRequestedPackage({ name: `${group}:${artifact}`, version, scripts: false }, all)
}

// libs.versions.toml

const version = z.union([z.string(), z.record(z.string(), z.unknown())])
const library = z.union([
  z.string(),
  z.strictObject({ module: z.string(), version: version.optional() }),
  z.strictObject({ group: z.string(), name: z.string(), version: version.optional() }),
])
type Library = z.infer<typeof library>

const catalog = z.object({
  versions: z.record(z.string(), version).default({}),
  libraries: z.record(z.string(), library).default({}),
})

/**
 * Plugins are programs of the build, and the build may read a version that no library refers to. So both must
 * not change.
 */
export function readVersionCatalog(text: string): ManifestReading {
  const tree = parseTomlTree(text)
  const { versions, libraries } = catalog.parse(tree)
  const named = new Set(Object.values(libraries).map(getVersionReference))
  const { versions: _, libraries: __, ...members } = tree
  const plugins = formatJson(members['plugins'] ?? {})
  const others = Object.entries(versions).filter(
    ([name]) => !named.has(name) || plugins.includes(`"ref":${JSON.stringify(name)}`),
  )
  return {
    packages: Object.entries(libraries).map(([alias, each]) => toCatalogPackage(alias, each, versions)),
    rest: flattenPlaces({ ...members, versions: Object.fromEntries(others) }, 2),
  }
}

function getCatalogVersion(each: Library): z.infer<typeof version> | undefined {
  return typeof each === 'string' ? undefined : each.version
}

function getVersionReference(each: Library): string | null {
  const wanted = getCatalogVersion(each)
  return typeof wanted === 'object' && typeof wanted['ref'] === 'string' ? wanted['ref'] : null
}

/** A build script refers to a library by its alias, so the alias is part of the request. */
function toCatalogPackage(
  alias: string,
  each: Library,
  versions: z.infer<typeof catalog>['versions'],
): PackageEntry {
  if (typeof each === 'string') return toMavenPackage(each, [`as ${alias}`])
  const reference = getVersionReference(each)
  if (reference !== null && !Object.hasOwn(versions, reference))
    throw new Unreadable(`names no version ${JSON.stringify(reference)}`)
  const wanted = reference === null ? getCatalogVersion(each) : versions[reference]
  const name = 'module' in each ? each.module : `${each.group}:${each.name}`
  return {
    ...toMavenPackage(name, []),
    version: `${wanted === undefined ? '*' : formatValue(wanted)} (as ${alias})`,
  }
}

// pom.xml

const PLACES = ['dependencies/dependency', 'dependencyManagement/dependencies/dependency'].flatMap(list => [
  `project/${list}`,
  `project/profiles/profile/${list}`,
])

export function readPom(text: string): ManifestReading {
  const root = parseXml(text)
  if (root.name !== 'project') throw new Unreadable(`is about ${root.name}, not project`)
  const { taken, rest } = splitElements(root, PLACES)
  return { packages: taken.map(toPomPackage), rest }
}

function toPomPackage(element: XmlElement): PackageEntry {
  const texts = Object.fromEntries(readChildTexts(element))
  const { groupId, artifactId, version = '*', systemPath, ...others } = texts
  if (Object.keys(element.attributes).length > 0) throw new Unreadable('has attributes on a dependency')
  if (groupId === undefined || artifactId === undefined)
    throw new Unreadable('has a dependency without a name')
  const notes = Object.entries(others).map(([key, value]) => `${key} ${value}`)
  const source = systemPath === undefined ? 'registry' : `path ${systemPath}`
  const known = { name: `${groupId}:${artifactId}`, version, source, scripts: false }
  return buildRequestedPackage(known, notes.sort())
}

// build.gradle

const CONFIGURATION =
  /^(?:api|implementation|compileOnly|compileOnlyApi|runtimeOnly|annotationProcessor|classpath|developmentOnly|kapt|ksp|compile|runtime|testCompile|testRuntime)$/
const SOURCE_SET_CONFIGURATION =
  /^[a-z]\w*(?:Api|Implementation|CompileOnly|RuntimeOnly|AnnotationProcessor)$/

const COORDINATES = String.raw`(?:'(?<single>[\w.:@+,[\]()-]+)'|"(?<double>[\w.:@+,[\]()-]+)")`
const CALL = String.raw`(?:(?<platform>platform|enforcedPlatform)\s*\(\s*${COORDINATES}\s*\)|${COORDINATES.replaceAll('?<', '?<plain')})`
const GRADLE_LINE = new RegExp(
  String.raw`^(?<kind>[a-z]\w*)(?:\s+${CALL}|\s*\(\s*${CALL.replaceAll('?<', '?<called')}\s*\))$`,
)

/** Multi-line texts: a line inside one can look like a dependency. */
const LONG_TEXT = /'''|"""|\$\//

/**
 * A build script is a program. Only plain lines of `dependencies { }` count as dependencies; every other line
 * must not change.
 */
export function readBuildGradle(text: string): ManifestReading {
  const packages: PackageEntry[] = []
  const program: string[] = []
  const openBlocks: string[] = []
  const lines = text.split(/\r?\n/).map(each => each.trim())
  const isPlain = !LONG_TEXT.test(text) && !lines.some(hasCommentInside)
  for (const line of lines) {
    if (line === '') continue
    const found = isPlain && openBlocks.at(-1) === 'dependencies {' ? parseGradleDependency(line) : null
    if (found !== null) packages.push(found)
    else program.push(line)
    if (line.startsWith('}')) openBlocks.pop()
    if (line.endsWith('{')) openBlocks.push(line)
  }
  return { packages, rest: new Map([['the program', program.join('\n')]]) }
}

/** A comment that starts after code, or ends before code. */
function hasCommentInside(line: string): boolean {
  const end = line.indexOf('*/')
  return line.indexOf('/*') > 0 || (end !== -1 && end < line.length - 2)
}

function parseGradleDependency(line: string): PackageEntry | null {
  const groups = GRADLE_LINE.exec(line)?.groups ?? {}
  const kind = groups['kind']
  if (kind === undefined) return null
  if (!CONFIGURATION.test(kind) && !SOURCE_SET_CONFIGURATION.test(kind)) return null
  const named = Object.entries(groups).filter(([, value]) => value !== undefined)
  const coordinates = named.find(([key]) => /(?:single|double)$/.test(key))?.[1]
  const platform = named.find(([key]) => key.endsWith('platform'))?.[1]
  if (coordinates === undefined || !/^[^:]+:[^:]+(?::[^:]+){0,2}$/.test(coordinates)) return null
  return toMavenPackage(coordinates, [kind, ...(platform === undefined ? [] : [platform])])
}

// gradle.lockfile

const GRADLE_LOCK_LINE = /^(?<coordinates>[^:=\s]+:[^:=\s]+:[^:=\s]+)=[\w,$.-]*$/

export function readGradleLockfile(text: string): ManifestReading {
  const lines = text
    .split(/\r\n?|\n/)
    .filter(line => line !== '' && !line.startsWith('#') && !line.startsWith('empty='))
  const packages = lines.map(line => {
    const coordinates = GRADLE_LOCK_LINE.exec(line)?.groups?.['coordinates']
    if (coordinates === undefined)
      throw new Unreadable(`has a line that gradle does not write: ${JSON.stringify(line.slice(0, 80))}`)
    return { ...toMavenPackage(coordinates, []), direct: null }
  })
  return { packages, rest: new Map() }
}
