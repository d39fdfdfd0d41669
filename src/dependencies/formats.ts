import { foldPath } from '../decide/packages.ts'
import { bunLock } from './bun.ts'
import { cargoLock, cargoToml } from './cargo.ts'
import { goMod, goSum } from './go.ts'
import type { ManifestFormat } from './manifest-format.ts'
import { buildGradle, gradleLockfile, pom, versionCatalog } from './maven.ts'
import { packageJson, packageLock } from './npm.ts'
import { packagesLock, projectFile } from './nuget.ts'
import { composerJson, composerLock } from './packagist.ts'
import { pnpmLock, pnpmWorkspace } from './pnpm.ts'
import { pipfileLock, poetryLock, uvLock } from './python-lockfiles.ts'
import { pipfile, pyproject, requirementsTxt } from './python-manifests.ts'
import { gemfile, gemfileLock } from './rubygems.ts'
import { yarnLock } from './yarn.ts'

const NPM = [packageJson, packageLock, pnpmWorkspace, pnpmLock, yarnLock, bunLock]
const PYPI = [requirementsTxt, pyproject, poetryLock, uvLock, pipfile, pipfileLock]
const CARGO = [cargoToml, cargoLock]

const GO = [goMod, goSum]
const RUBYGEMS = [gemfile, gemfileLock]
const PACKAGIST = [composerJson, composerLock]
const MAVEN = [pom, buildGradle, versionCatalog, gradleLockfile]
const NUGET = [projectFile, packagesLock]

const FORMATS: readonly ManifestFormat[] = [
  ...NPM,
  ...PYPI,
  ...CARGO,
  ...GO,
  ...RUBYGEMS,
  ...PACKAGIST,
  ...MAVEN,
  ...NUGET,
]

/** Undefined: winnow cannot read files of this name. */
export function findManifestFormat(path: string): ManifestFormat | undefined {
  const folded = foldPath(path)
  const name = folded.slice(folded.lastIndexOf('/') + 1)
  return FORMATS.find(({ matches }) => matches(name, folded))
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
