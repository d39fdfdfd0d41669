import { formatPackage, formatPackages, isOldEnough, type PackageAddition } from '../model/approval.ts'
import { foldPath } from '../model/path.ts'
import type { Spec } from '../spec/schema.ts'

type DependencyRules = Spec['dependencies']

// Approval of packages

/**
 * The spec approves every version that a registry has under a name. A package from an address, a commit or a
 * path is another one under that name.
 */
export function listUnlistedPackages(
  { approved }: Pick<DependencyRules, 'approved'>,
  additions: readonly Pick<PackageAddition, 'name' | 'ecosystem' | 'source' | 'path'>[],
): string[] {
  const unknown = additions.filter(each => !approved.includes(each.name) || !isRegistryPackage(each))
  return [...new Set(unknown.map(({ name }) => name))]
}

const LOCKFILE_NAME = /(?:lock|sum|shrinkwrap)[^/]*$/i
const REGISTRY_INDEX = /^(?:(?:sparse\+)?https?:\/\/[^\s#]+|[\w.-]+)$/
const PACKAGE_ARCHIVE = /\.(?:tgz|tar|tar\.\w+|zip|whl|jar|gem|crate|git)$/i

/** A lockfile shows the registry's own address; in a manifest every address is another source. */
function isRegistryPackage(addition: Pick<PackageAddition, 'ecosystem' | 'source' | 'path'>): boolean {
  const { ecosystem, source, path } = addition
  if (/^registry\b/.test(source)) return true
  if (!LOCKFILE_NAME.test(path)) return false
  // Composer's lockfile names an archive for every package, from every source.
  if (ecosystem === 'packagist') return true
  const address = source.replace(/, installed as .*$/, '')
  return REGISTRY_INDEX.test(address) && !PACKAGE_ARCHIVE.test(address)
}

/**
 * Packages that the spec approves, but whose release is too recent to trust unseen: an attacker who takes a
 * package over publishes under its name. An unknown age is too recent, and so is a range, which may resolve
 * to a newer release tomorrow.
 */
export function listTooYoungPackages(
  { min_release_age_days: days }: Pick<DependencyRules, 'min_release_age_days'>,
  additions: readonly PackageAddition[],
  now: string,
): string[] {
  const young = additions.filter(
    ({ released, released_by }) => !isOldEnough(released, days, now) || (days > 0 && released_by === 'range'),
  )
  return [...new Set(young.map(({ name }) => name))]
}

/** Finds a package that no approval can let in under this spec; null where a person may approve. */
export function findRefusedAddition(
  rules: DependencyRules,
  additions: readonly PackageAddition[],
): { code: 'dependencies'; message: string; about: PackageAddition } | null {
  const names = listUnlistedPackages(rules, additions)
  const unknown = additions.filter(each => names.includes(each.name))
  const [first] = unknown
  if (first !== undefined && rules.approval === 'deny') {
    const message = `adds ${formatPackages(names, additions)}, and dependencies.approval is deny`
    return { code: 'dependencies', message, about: first }
  }
  const scripted = rules.allow_scripts ? undefined : unknown.find(each => each.scripts === true)
  if (scripted === undefined) return null
  const message = `adds ${formatPackage(scripted)}, which runs install scripts: set dependencies.allow_scripts to have it reviewed, or name it in dependencies.approved`
  return { code: 'dependencies', message, about: scripted }
}

// Manifests and lockfiles

/** In lower case: the files that define which packages are installed, and from where. */
const MANIFEST_NAMES = new Set([
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'yarn.lock',
  'bun.lock',
  'bun.lockb',
  'deno.json',
  'deno.jsonc',
  'deno.lock',
  'pyproject.toml',
  'poetry.lock',
  'uv.lock',
  'pdm.lock',
  'pixi.toml',
  'pixi.lock',
  'pipfile',
  'pipfile.lock',
  'setup.py',
  'setup.cfg',
  'environment.yml',
  'environment.yaml',
  'cargo.toml',
  'cargo.lock',
  'go.mod',
  'go.sum',
  'go.work',
  'go.work.sum',
  'gemfile',
  'gemfile.lock',
  'composer.json',
  'composer.lock',
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
  'settings.gradle',
  'settings.gradle.kts',
  'gradle.lockfile',
  'libs.versions.toml',
  'build.sbt',
  'packages.config',
  'packages.lock.json',
  'directory.packages.props',
  'mix.exs',
  'mix.lock',
  'pubspec.yaml',
  'pubspec.lock',
  'package.swift',
  'package.resolved',
  'podfile',
  'podfile.lock',
  'flake.nix',
  'flake.lock',
  'directory.build.props',
  'directory.build.targets',
  'gems.rb',
  'gems.locked',
  'pylock.toml',
  'buildscript-gradle.lockfile',
  'verification-metadata.xml',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.pnpmfile.cjs',
  '.pnp.cjs',
  'bunfig.toml',
  'pip.conf',
  'uv.toml',
  'nuget.config',
  'conanfile.txt',
  'conanfile.py',
  'vcpkg.json',
  'package.yaml',
  'package.json5',
  '.pnpmfile.mjs',
  'tox.ini',
  'conda-lock.yml',
  'global.json',
  'dotnet-tools.json',
  'paket.dependencies',
  'paket.lock',
  'rust-toolchain',
  'rust-toolchain.toml',
  'project.toml',
  'manifest.toml',
  'renv.lock',
  'cpanfile',
  'cpanfile.snapshot',
  'deps.edn',
  'project.clj',
  'stack.yaml',
  'stack.yaml.lock',
  'cabal.project',
  'cabal.project.freeze',
  'rebar.config',
  'rebar.lock',
  'shard.yml',
  'shard.lock',
  'build.zig.zon',
  'module.bazel',
  'module.bazel.lock',
])

const MANIFEST_PATTERNS = [
  /^(?:[^/]+\.)?(?:cs|fs|vb)proj$/,
  /^[^/]+\.(?:gemspec|gemfile|cabal|rockspec|sbt)$/,
  // Parts of a build may have scripts of any name, and scripts read others.
  /^[^/]+\.gradle(?:\.kts)?$/,
  /^pylock\.[^/]+\.toml$/,
  /^environment[-_.][^/]+\.ya?ml$/,
]

/** Folders in which a tool keeps settings that it reads before the manifest. */
const SETTINGS_FOLDER =
  /(?:^|\/)(?:\.cargo\/config(?:\.toml)?|\.bundle\/config|\.mvn\/.+|gradle\/wrapper\/[^/]+)$/

/** `requirements.txt`, `requirements-dev.txt`, `dev-requirements.txt`, `requirements/dev.txt`. */
const REQUIREMENTS =
  /(?:^|\/)(?:(?:[^/]+[-_.])?(?:requirements|constraints)[^/]*|requirements\/[^/]+)\.(?:txt|in)$/

/** `folded`: a result of `foldPath`. */
export function isRequirements(folded: string): boolean {
  return REQUIREMENTS.test(folded)
}

export function isManifest(path: string): boolean {
  const folded = foldPath(path)
  const name = folded.slice(folded.lastIndexOf('/') + 1)
  if (MANIFEST_NAMES.has(name) || MANIFEST_PATTERNS.some(pattern => pattern.test(name))) return true
  return isRequirements(folded) || SETTINGS_FOLDER.test(folded)
}

// Lines to point at

/** Line of the first change, counted from 1, as shown in the new text; 1 if no text is left. */
export function findFirstChangedLine(before: string | null, after: string | null): number {
  if (after === null || after === '') return 1
  const [old, now] = [(before ?? '').split('\n'), after.split('\n')]
  const same = now.findIndex((line, index) => line !== old[index])
  const last = after.endsWith('\n') ? now.length - 1 : now.length
  // Only the end was removed: point at the last line that is left.
  return same === -1 ? last : Math.min(same + 1, last)
}

/** First line on which a manifest or lockfile names the package; 1 if its text does not show it. */
export function findPackageLine(name: string, text: string | null): number {
  const found = (text ?? '').split('\n').findIndex(line => isNamedInLine(line, name))
  return found === -1 ? 1 : found + 1
}

const NAME_CHARACTER = /[\w.@-]/

/** Matches whole words only: `left-pad-extra` does not name `left-pad`. */
function isNamedInLine(line: string, name: string): boolean {
  for (let at = line.indexOf(name); at !== -1; at = line.indexOf(name, at + 1)) {
    const [before, after] = [line[at - 1] ?? ' ', line[at + name.length] ?? ' ']
    if (!NAME_CHARACTER.test(before) && (!NAME_CHARACTER.test(after) || after === '@')) return true
  }
  return false
}
