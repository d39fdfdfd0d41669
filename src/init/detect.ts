import { posix } from 'node:path'
import { UserError } from '../errors.ts'
import { findNearestWord } from '../spec/nearest-word.ts'
import { compilePathspec } from '../spec/scope.ts'
import { buildCHarness, detectC } from './c.ts'
import { buildGoHarness, detectGo } from './go.ts'
import { completeHarness, type HarnessTemplate, type Skeleton, type SkeletonRequest } from './harness.ts'
import { buildJavaHarness, detectJava } from './java.ts'
import { buildNodeHarness, detectNode } from './node.ts'
import {
  type Detection,
  type Findings,
  getNestedText,
  getNestedValue,
  isForeign,
  type Language,
  LANGUAGES,
  listPrompts,
  type ProgramLanguage,
  type ProjectFiles,
  type ProjectLocation,
  PROSE,
  readJsonManifest,
  readTomlManifest,
  readYamlManifest,
} from './project.ts'
import { buildPythonHarness, detectPython } from './python.ts'
import { buildRubyHarness, detectRuby } from './ruby.ts'
import { buildRustHarness, detectRust } from './rust.ts'
import { buildShellHarness, detectShell } from './shell.ts'
import { detectText } from './text.ts'

interface LanguageSupport {
  detect: (project: ProjectLocation) => Detection | null
  buildHarness: (request: SkeletonRequest) => HarnessTemplate
}

const SUPPORT: Readonly<Record<ProgramLanguage, LanguageSupport>> = {
  node: { detect: detectNode, buildHarness: buildNodeHarness },
  python: { detect: detectPython, buildHarness: buildPythonHarness },
  go: { detect: detectGo, buildHarness: buildGoHarness },
  rust: { detect: detectRust, buildHarness: buildRustHarness },
  java: { detect: detectJava, buildHarness: buildJavaHarness },
  ruby: { detect: detectRuby, buildHarness: buildRubyHarness },
  c: { detect: detectC, buildHarness: buildCHarness },
  shell: { detect: detectShell, buildHarness: buildShellHarness },
}

export function buildSkeleton(language: ProgramLanguage, request: SkeletonRequest): Skeleton {
  return completeHarness(SUPPORT[language].buildHarness(request), request.entry)
}

const ABSENT = {
  manager: null,
  setup: null,
  test: null,
  bench: null,
  immutable: [],
  entry: null,
  notes: [],
}

export interface DetectedProject {
  findings: Findings
  others: Language[]
}

/** Prefers a language with a benchmark, then the language with most files. */
export function detectProject(project: ProjectLocation, wanted: string | undefined): DetectedProject {
  const all = LANGUAGES.flatMap((language): Findings | readonly [] => {
    const found = language === 'text' ? detectText(project) : SUPPORT[language].detect(project)
    return found === null ? [] : { ...ABSENT, language, ...found }
  })
  const real = all.filter(({ language }) => language !== 'shell' && language !== 'text')
  const candidates =
    real.length > 0 ? all.filter(each => each.language === wanted || isOffered(each, project)) : all
  const ordered = candidates.toSorted(
    (a, b) =>
      Number(a.language === 'text') - Number(b.language === 'text') ||
      Number(b.bench !== null) - Number(a.bench !== null) ||
      b.weight - a.weight,
  )
  const findings = wanted === undefined ? ordered[0] : ordered.find(({ language }) => language === wanted)
  if (findings === undefined) throw createNothingFoundError(project, wanted, all)
  const others = ordered.map(({ language }) => language).filter(language => language !== findings.language)
  return { findings, others }
}

/** Beside a program, scripts belong to it, and a text is a subject of its own only if a model follows it. */
function isOffered({ language }: Findings, { files }: ProjectLocation): boolean {
  return language === 'text' ? listPrompts(files.paths).length > 0 : language !== 'shell'
}

function createNothingFoundError(
  project: ProjectLocation,
  wanted: string | undefined,
  all: readonly Findings[],
): UserError {
  const { directory, files } = project
  const where = directory === '' ? 'here' : `in ${directory}`
  const texts = files.paths.filter(path => PROSE.test(path)).length
  if (wanted === undefined && texts > 0) {
    return new UserError(
      `${texts === 1 ? 'a text is' : `${texts} texts are`} committed ${where}, but no program. winnow needs a command that measures how good a text is`,
      {
        fix: 'commit a script, such as bench/outputs.sh, that runs the texts on fixed inputs and prints a number ({"score": 0.8}) or the outputs to be judged ({"items": [{"id": "a", "content": "…"}]}); then winnow init, or winnow init --goal "clearer answers"',
      },
    )
  }
  if (wanted === undefined) {
    return new UserError(`init found no committed project in a language that it knows ${where}`, {
      fix: `commit it first, or write .winnow/<name>.yaml by hand: four lines are enough (${LANGUAGES.join(', ')} are known)`,
    })
  }
  const found = all.map(({ language }) => language).join(', ') || 'none'
  return new UserError(`no ${wanted} project was found ${where}; found: ${found}`, {
    fix: `--language is one of ${LANGUAGES.join(', ')}`,
  })
}

// Packages of a repository

interface ProjectPackage {
  /** Empty: the top of the repository. */
  directory: string
  name: string
}

const MANIFEST =
  /^(?:(.*)\/)?(?:package\.json|pyproject\.toml|setup\.py|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|Gemfile)$/

/** Lists every directory with its own manifest, the top first. */
function listPackages(repository: ProjectFiles): ProjectPackage[] {
  const directories = repository.paths.flatMap(path => {
    const match = isForeign(path) ? null : MANIFEST.exec(path)
    return match === null ? [] : [match[1] ?? '']
  })
  return [...new Set(directories)]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map(directory => ({ directory, name: readPackageName(repository, directory) }))
}

function readPackageName(repository: ProjectFiles, directory: string): string {
  const at = (file: string) => (directory === '' ? file : `${directory}/${file}`)
  const pyproject = readTomlManifest(repository, at('pyproject.toml'))
  return (
    getNestedText(readJsonManifest(repository, at('package.json')), 'name') ??
    getNestedText(pyproject, 'project', 'name') ??
    getNestedText(readTomlManifest(repository, at('Cargo.toml')), 'package', 'name') ??
    /^module\s+(\S+)/m.exec(repository.text(at('go.mod')) ?? '')?.[1] ??
    (posix.basename(directory) || '.')
  )
}

interface PackageChoice {
  wanted?: string | undefined
  /** The working directory of the person. Inside a package, that package is chosen. */
  from?: string
}

/** Defaults to the only package, or to the top of the repository. Throws if several packages qualify. */
export function choosePackage(
  repository: ProjectFiles,
  { wanted, from = '' }: PackageChoice,
): ProjectPackage {
  const packages = listPackages(repository)
  const top = packages.find(({ directory }) => directory === '') ?? { directory: '', name: '.' }
  if (wanted !== undefined) return findNamedPackage(repository, packages, wanted)
  const enclosing = packages.findLast(
    ({ directory }) => directory !== '' && `${from}/`.startsWith(`${directory}/`),
  )
  if (enclosing !== undefined) return enclosing
  const members = listMembers(repository, packages)
  const [only] = members
  if (only === undefined) return top
  if (members.length === 1) return only
  throw new UserError(`this repository has ${members.length} packages: ${formatPackageList(members)}`, {
    fix: `name one: winnow init --package ${only.directory}, or --package . for the whole`,
  })
}

function findNamedPackage(
  repository: ProjectFiles,
  packages: readonly ProjectPackage[],
  wanted: string,
): ProjectPackage {
  const directory = wanted.replace(/^\.\/|\/+$/g, '').replace(/^\.$/, '')
  const found =
    packages.find(each => each.directory === directory) ??
    packages.find(each => each.name === wanted) ??
    packages.find(
      each => posix.basename(each.directory) === directory || posix.basename(each.name) === wanted,
    )
  if (found !== undefined) return found
  if (directory === '' || repository.paths.some(path => path.startsWith(`${directory}/`))) {
    return { directory, name: posix.basename(directory) || '.' }
  }
  const near = findNearestWord(
    wanted,
    packages.flatMap(each => [posix.basename(each.directory), each.directory, each.name]),
  )
  throw new UserError(`there is no package ${wanted}`, {
    fix:
      near === undefined
        ? `there is ${formatPackageList(packages) || 'none'}`
        : `did you mean --package ${near}?`,
  })
}

function formatPackageList(packages: readonly ProjectPackage[]): string {
  const shown = packages.slice(0, 12).map(({ directory, name }) => {
    const place = directory === '' ? '.' : directory
    return name === place || place.endsWith(`/${name}`) ? place : `${place} (${name})`
  })
  return shown.join(', ') + (packages.length > 12 ? ', …' : '')
}

/** Lists the members of a workspace. Without a manifest at the top, lists all packages below it. */
function listMembers(repository: ProjectFiles, packages: readonly ProjectPackage[]): ProjectPackage[] {
  const inner = packages.filter(({ directory }) => directory !== '')
  const globs = readWorkspaceGlobs(repository)
  if (globs !== null) {
    const matchesSome = (patterns: readonly string[]) => {
      const matches = patterns.map(glob => compilePathspec(`${glob.replace(/^\.\/|\/+$/g, '')}/`))
      return ({ directory }: ProjectPackage) => matches.some(match => match(`${directory}/manifest`))
    }
    const isIncluded = matchesSome(globs.filter(glob => !glob.startsWith('!')))
    const isExcluded = matchesSome(globs.filter(glob => glob.startsWith('!')).map(glob => glob.slice(1)))
    return inner.filter(each => isIncluded(each) && !isExcluded(each))
  }
  // A build may only combine others: a pom without its own sources.
  const { paths } = repository
  const isAggregate =
    ['pom.xml', 'build.gradle', 'build.gradle.kts', 'settings.gradle'].some(file => paths.includes(file)) &&
    !paths.some(path => path.startsWith('src/'))
  if (inner.length < packages.length && !isAggregate) return []
  return inner.filter(each => !inner.some(({ directory }) => each.directory.startsWith(`${directory}/`)))
}

function readWorkspaceGlobs(repository: ProjectFiles): string[] | null {
  const npm = getNestedValue(readJsonManifest(repository, 'package.json'), 'workspaces')
  const pyproject = readTomlManifest(repository, 'pyproject.toml')
  const lists = [
    npm,
    getNestedValue(npm, 'packages'),
    getNestedValue(readYamlManifest(repository, 'pnpm-workspace.yaml'), 'packages'),
    getNestedValue(readTomlManifest(repository, 'Cargo.toml'), 'workspace', 'members'),
    getNestedValue(pyproject, 'tool', 'uv', 'workspace', 'members'),
    readGoWork(repository.text('go.work')),
  ]
  const globs = lists
    .flatMap((list): unknown[] => (Array.isArray(list) ? list : []))
    .filter(glob => typeof glob === 'string')
  return globs.length === 0 ? null : globs
}

/** Parses `use ./a` and `use ( ./a ./b )`. */
function readGoWork(text: string | null): string[] {
  const uses = [...(text ?? '').matchAll(/^use\s+(?:\(([^)]*)\)|(\S+))/gm)]
  return uses.flatMap(([, many, one]) =>
    (one ?? many ?? '').split(/\s+/).filter(word => word.startsWith('.')),
  )
}
