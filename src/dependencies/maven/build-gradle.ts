import type { PackageEntry } from '../addition.ts'
import { type ManifestFormat, matchNames, type ManifestReading } from '../format.ts'
import { toMavenPackage } from './coordinates.ts'

const KINDS = ['api', 'implementation', 'compileOnly', 'compileOnlyApi', 'runtimeOnly', 'annotationProcessor']
const OTHER_KINDS = [
  'classpath',
  'developmentOnly',
  'kapt',
  'ksp',
  'compile',
  'runtime',
  'testCompile',
  'testRuntime',
]
const SETS = /^[a-z]\w*(?:Api|Implementation|CompileOnly|RuntimeOnly|AnnotationProcessor)$/

const COORDINATES = String.raw`(?:'(?<single>[\w.:@+,[\]()-]+)'|"(?<double>[\w.:@+,[\]()-]+)")`
const CALL = String.raw`(?:(?<platform>platform|enforcedPlatform)\s*\(\s*${COORDINATES}\s*\)|${COORDINATES.replaceAll('?<', '?<plain')})`
const GRADLE_LINE = new RegExp(
  String.raw`^(?<kind>[a-z]\w*)(?:\s+${CALL}|\s*\(\s*${CALL.replaceAll('?<', '?<called')}\s*\))$`,
)

/** Texts of more than one line: what stands in them is not what it looks like. */
const LONG_TEXT = /'''|"""|\$\//

export const buildGradle: ManifestFormat = {
  ecosystem: 'maven',
  kind: 'manifest',
  holds: matchNames('build.gradle', 'build.gradle.kts'),
  read: readBuildGradle,
}

/** A build script is a program: a plain line of `dependencies { }` is a dependency, every other line has to stay. */
function readBuildGradle(text: string): ManifestReading {
  const packages: PackageEntry[] = []
  const program: string[] = []
  const around: string[] = []
  const lines = text.split(/\r?\n/).map(each => each.trim())
  const isPlain = !LONG_TEXT.test(text) && !lines.some(hasCommentInside)
  for (const line of lines) {
    if (line === '') continue
    const found = isPlain && around.at(-1) === 'dependencies {' ? parseGradleDependency(line) : null
    if (found !== null) packages.push(found)
    else program.push(line)
    if (line.startsWith('}')) around.pop()
    if (line.endsWith('{')) around.push(line)
  }
  return { packages, rest: new Map([['the program', program.join('\n')]]) }
}

/** A comment that begins behind something, or ends before something. */
function hasCommentInside(line: string): boolean {
  const end = line.indexOf('*/')
  return line.indexOf('/*') > 0 || (end !== -1 && end < line.length - 2)
}

function parseGradleDependency(line: string): PackageEntry | null {
  const groups = GRADLE_LINE.exec(line)?.groups ?? {}
  const kind = groups['kind']
  if (kind === undefined || !isKind(kind)) return null
  const named = Object.entries(groups).filter(([, value]) => value !== undefined)
  const coordinates = named.find(([key]) => /(?:single|double)$/.test(key))?.[1]
  const platform = named.find(([key]) => key.endsWith('platform'))?.[1]
  if (coordinates === undefined || !/^[^:]+:[^:]+(?::[^:]+){0,2}$/.test(coordinates)) return null
  return toMavenPackage(coordinates, [kind, ...(platform === undefined ? [] : [platform])])
}

function isKind(kind: string): boolean {
  return KINDS.includes(kind) || OTHER_KINDS.includes(kind) || SETS.test(kind)
}
