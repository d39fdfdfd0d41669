import { foldPath } from '../decide/manifest.ts'
import { cargoLock } from './cargo/cargo-lock.ts'
import { cargoToml } from './cargo/cargo-toml.ts'
import type { ManifestFormat } from './format.ts'
import { goMod } from './go/go-mod.ts'
import { goSum } from './go/go-sum.ts'
import { buildGradle } from './maven/build-gradle.ts'
import { gradleLockfile } from './maven/gradle-lockfile.ts'
import { pom } from './maven/pom.ts'
import { versionCatalog } from './maven/version-catalog.ts'
import { bunLock } from './npm/bun-lock.ts'
import { packageJson } from './npm/package-json.ts'
import { packageLock } from './npm/package-lock.ts'
import { pnpmLock } from './npm/pnpm-lock.ts'
import { pnpmWorkspace } from './npm/pnpm-workspace.ts'
import { yarnLock } from './npm/yarn-lock.ts'
import { packagesLock } from './nuget/packages-lock.ts'
import { projectFile } from './nuget/project-file.ts'
import { composerJson } from './packagist/composer-json.ts'
import { composerLock } from './packagist/composer-lock.ts'
import { pipfile } from './pypi/pipfile.ts'
import { pipfileLock } from './pypi/pipfile-lock.ts'
import { poetryLock } from './pypi/poetry-lock.ts'
import { pyproject } from './pypi/pyproject.ts'
import { requirementsTxt } from './pypi/requirements-txt.ts'
import { uvLock } from './pypi/uv-lock.ts'
import { gemfile } from './rubygems/gemfile.ts'
import { gemfileLock } from './rubygems/gemfile-lock.ts'

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

/** How a file of this name is read; undefined where nothing here can. */
export function findManifestFormat(path: string): ManifestFormat | undefined {
  const folded = foldPath(path)
  const name = folded.slice(folded.lastIndexOf('/') + 1)
  return FORMATS.find(({ holds }) => holds(name, folded))
}

const PROGRAMS =
  /^(?:setup\.py|conanfile\.py|gems\.rb|mix\.exs|package\.swift|podfile|flake\.nix|.+\.(?:gemspec|gemfile|sbt|cjs)|\.pnpmfile\.mjs|.+\.gradle(?:\.kts)?)$/
const SETTINGS =
  /^(?:\.npmrc|\.yarnrc|\.yarnrc\.yml|bunfig\.toml|pip\.conf|uv\.toml|nuget\.config|config(?:\.toml)?|(?:gradle|maven)-wrapper\.properties)$/

/** Why a file that `formatOf` does not know is not read. */
export function explainUnknownFormat(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const folded = foldPath(name)
  if (PROGRAMS.test(folded)) return `${name} is a program`
  if (SETTINGS.test(folded)) return `${name} says where packages come from and what they may do`
  return folded === 'bun.lockb' ? `${name} is binary; keep bun.lock instead` : 'its format is not known'
}
