import { isRequirements } from '../decide/packages.ts'
import { foldPath } from '../model/path.ts'
import { readBunLock } from './bun.ts'
import { readCargoLock, readCargoToml } from './cargo.ts'
import { readGoMod, readGoSum } from './go.ts'
import type { ManifestReading } from './manifest-format.ts'
import { readBuildGradle, readGradleLockfile, readPom, readVersionCatalog } from './maven.ts'
import { readPackageJson, readPackageLock } from './npm.ts'
import { readPackagesLock, readProjectFile } from './nuget.ts'
import type { Ecosystem } from './package.ts'
import { readComposerJson, readComposerLock } from './packagist.ts'
import { readPnpmLock, readPnpmWorkspace } from './pnpm.ts'
import { readPipfileLock, readPoetryLock, readUvLock } from './python-lockfiles.ts'
import { readPipfile, readPyproject, readRequirements } from './python-manifests.ts'
import { readGemfile, readGemfileLock } from './rubygems.ts'
import { readYarnLock } from './yarn.ts'

export interface ManifestFormat {
  ecosystem: Ecosystem
  kind: 'manifest' | 'lockfile'
  /** Throws Unreadable for everything that it does not know for certain. */
  read: (text: string) => ManifestReading
}

/** File names in lower case. */
type FormatTable = ReadonlyMap<string, readonly [Ecosystem, ManifestFormat['read']]>

const MANIFESTS: FormatTable = new Map([
  ['package.json', ['npm', readPackageJson]],
  ['pnpm-workspace.yaml', ['npm', readPnpmWorkspace]],
  ['pyproject.toml', ['pypi', readPyproject]],
  ['pipfile', ['pypi', readPipfile]],
  ['cargo.toml', ['cargo', readCargoToml]],
  ['go.mod', ['go', readGoMod]],
  ['gemfile', ['rubygems', readGemfile]],
  ['composer.json', ['packagist', readComposerJson]],
  ['pom.xml', ['maven', readPom]],
  ['build.gradle', ['maven', readBuildGradle]],
  ['build.gradle.kts', ['maven', readBuildGradle]],
  ['libs.versions.toml', ['maven', readVersionCatalog]],
  ['directory.packages.props', ['nuget', readProjectFile]],
  ['directory.build.props', ['nuget', readProjectFile]],
  ['directory.build.targets', ['nuget', readProjectFile]],
])
const LOCKFILES: FormatTable = new Map([
  ['package-lock.json', ['npm', readPackageLock]],
  ['npm-shrinkwrap.json', ['npm', readPackageLock]],
  ['pnpm-lock.yaml', ['npm', readPnpmLock]],
  ['yarn.lock', ['npm', readYarnLock]],
  ['bun.lock', ['npm', readBunLock]],
  ['poetry.lock', ['pypi', readPoetryLock]],
  ['uv.lock', ['pypi', readUvLock]],
  ['pipfile.lock', ['pypi', readPipfileLock]],
  ['cargo.lock', ['cargo', readCargoLock]],
  ['go.sum', ['go', readGoSum]],
  ['go.work.sum', ['go', readGoSum]],
  ['gemfile.lock', ['rubygems', readGemfileLock]],
  ['composer.lock', ['packagist', readComposerLock]],
  ['gradle.lockfile', ['maven', readGradleLockfile]],
  ['buildscript-gradle.lockfile', ['maven', readGradleLockfile]],
  ['packages.lock.json', ['nuget', readPackagesLock]],
])
/** In lower case. `isManifest` has to know each of them, or a change of the file is not looked at. */
export const READABLE_NAMES: readonly string[] = [...MANIFESTS.keys(), ...LOCKFILES.keys()]

const PROJECT_FILE = /^(?:[^/]+\.)?(?:cs|fs|vb)proj$/

/** Undefined: winnow cannot read files of this name. */
export function findManifestFormat(path: string): ManifestFormat | undefined {
  const folded = foldPath(path)
  const name = folded.slice(folded.lastIndexOf('/') + 1)
  if (isRequirements(folded)) return { ecosystem: 'pypi', kind: 'manifest', read: readRequirements }
  if (PROJECT_FILE.test(name)) return { ecosystem: 'nuget', kind: 'manifest', read: readProjectFile }
  const kind = LOCKFILES.has(name) ? 'lockfile' : 'manifest'
  const found = LOCKFILES.get(name) ?? MANIFESTS.get(name)
  return found && { ecosystem: found[0], kind, read: found[1] }
}

const PROGRAMS =
  /^(?:setup\.py|conanfile\.py|gems\.rb|mix\.exs|package\.swift|podfile|flake\.nix|.+\.(?:gemspec|gemfile|sbt|cjs)|\.pnpmfile\.mjs|.+\.gradle(?:\.kts)?)$/
const SETTINGS =
  /^(?:\.npmrc|\.yarnrc|\.yarnrc\.yml|bunfig\.toml|pip\.conf|uv\.toml|nuget\.config|config(?:\.toml)?|(?:gradle|maven)-wrapper\.properties)$/

/** Explains why winnow does not read a file that `findManifestFormat` does not know. */
export function explainUnknownFormat(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const folded = foldPath(name)
  if (PROGRAMS.test(folded)) return `${name} is a program`
  if (SETTINGS.test(folded)) return `${name} says where packages come from and what they may do`
  return folded === 'bun.lockb' ? `${name} is binary; keep bun.lock instead` : 'its format is not known'
}
