/** Files that together say which packages are installed, and from where, whatever their ecosystem; lower case. */
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
  // Parts of a build have scripts of any name, and scripts read others.
  /^[^/]+\.gradle(?:\.kts)?$/,
  /^pylock\.[^/]+\.toml$/,
  /^environment[-_.][^/]+\.ya?ml$/,
]

/** Folders in which a tool keeps what it reads before the manifest. */
const SETTINGS_FOLDER =
  /(?:^|\/)(?:\.cargo\/config(?:\.toml)?|\.bundle\/config|\.mvn\/.+|gradle\/wrapper\/[^/]+)$/

/** `requirements.txt`, `requirements-dev.txt`, `dev-requirements.txt`, `requirements/dev.txt`. */
const REQUIREMENTS =
  /(?:^|\/)(?:(?:[^/]+[-_.])?(?:requirements|constraints)[^/]*|requirements\/[^/]+)\.(?:txt|in)$/

/** `folded`: as `foldedPath` makes it. */
export function isRequirements(folded: string): boolean {
  return REQUIREMENTS.test(folded)
}

/** Two spellings that a case-insensitive or normalising file system takes for one are one. */
export function foldPath(path: string): string {
  return path.normalize('NFC').toLowerCase().normalize('NFC')
}

export function isManifest(path: string): boolean {
  const folded = foldPath(path)
  const name = folded.slice(folded.lastIndexOf('/') + 1)
  if (MANIFEST_NAMES.has(name) || MANIFEST_PATTERNS.some(pattern => pattern.test(name))) return true
  return isRequirements(folded) || SETTINGS_FOLDER.test(folded)
}
