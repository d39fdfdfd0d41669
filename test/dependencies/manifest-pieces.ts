/** A manifest of which any entries, in any order, are a manifest again; all else in it stays. */
export interface ManifestPieces {
  path: string
  entries: readonly string[]
  write: (entries: readonly string[]) => string
}

const NAMES = ['alpha', 'beta', 'gamma', 'delta']
const lines = (entries: readonly string[]) => entries.map(entry => `${entry}\n`).join('')

function json(path: string, place: string, entry: (name: string) => string): ManifestPieces {
  return {
    path,
    entries: NAMES.map(entry),
    write: entries =>
      `{ "name": "acme/app", "${place}": { ${entries.join(', ')} }, "scripts": { "a": "b" } }`,
  }
}

function toml(path: string, table: string, entry: (name: string) => string): ManifestPieces {
  return {
    path,
    entries: NAMES.map(entry),
    write: entries => `[package]\nname = "app"\n\n[${table}]\n${lines(entries)}\n[other]\na = 1\n`,
  }
}

function xml(path: string, around: string, entry: (name: string) => string): ManifestPieces {
  const open = around.split('/')
  return {
    path,
    entries: NAMES.map(entry),
    write: entries =>
      `${open.map(name => `<${name}>`).join('')}${entries.join('')}${open
        .toReversed()
        .map((name, at) => `</${name}>${at === open.length - 2 ? '<other>1</other>' : ''}`)
        .join('')}`,
  }
}

const dependency = (name: string) =>
  `<dependency><groupId>org.acme</groupId><artifactId>${name}</artifactId><version>1</version></dependency>`

export const MANIFESTS: readonly ManifestPieces[] = [
  ...['dependencies', 'devDependencies', 'peerDependencies', 'overrides', 'resolutions'].map(place =>
    json('package.json', place, name => `"${name}": "^1.0.0"`),
  ),
  json('composer.json', 'require-dev', name => `"acme/${name}": "^1.0"`),
  ...['dependencies', 'build-dependencies', "target.'cfg(unix)'.dependencies", 'patch.crates-io'].map(table =>
    toml('Cargo.toml', table, name => `${name} = { version = "1", features = ["a"] }`),
  ),
  ...['tool.poetry.dependencies', 'tool.poetry.group.dev.dependencies', 'tool.uv.sources'].map(table =>
    toml('pyproject.toml', table, name => `${name} = { git = "https://example.org/${name}" }`),
  ),
  {
    path: 'pyproject.toml',
    entries: NAMES.map(name => `"${name}[extra]>=1 ; python_version > '3'"`),
    write: entries => `[project]\nname = "app"\ndependencies = [${entries.join(', ')}]\n`,
  },
  toml('Pipfile', 'packages', name => `${name} = "*"`),
  toml('gradle/libs.versions.toml', 'libraries', name => `${name} = "org.acme:${name}:1"`),
  {
    path: 'pnpm-workspace.yaml',
    entries: NAMES.map(name => `  ${name}: ^1.0.0`),
    write: entries => `packages:\n  - a\n${entries.length === 0 ? '' : `catalog:\n${lines(entries)}`}`,
  },
  {
    path: 'requirements.txt',
    entries: NAMES.map(name => `${name}==1.0 --hash=sha256:aa  # why`),
    write: entries => `--index-url https://example.org\n${lines(entries)}`,
  },
  {
    path: 'go.mod',
    entries: NAMES.flatMap(name => [
      `require example.org/${name} v1.0.0`,
      `replace example.org/${name} => example.org/other/${name} v1.0.1`,
    ]),
    write: entries => `module example.org/app\n\ngo 1.19\n\n${lines(entries)}`,
  },
  {
    path: 'Gemfile',
    entries: NAMES.map(name => `  gem "${name}", "~> 1.0", require: false`),
    write: entries => `source "https://rubygems.org"\n\ngroup :test do\n${lines(entries)}end\n`,
  },
  {
    path: 'build.gradle.kts',
    entries: NAMES.map(name => `    implementation("org.acme:${name}:1")`),
    write: entries => `plugins {\n    id("java")\n}\n\ndependencies {\n${lines(entries)}}\n`,
  },
  xml('pom.xml', 'project/dependencies', dependency),
  xml('pom.xml', 'project/dependencyManagement/dependencies', dependency),
  xml('App.csproj', 'Project/ItemGroup', name => `<PackageReference Include="${name}" Version="1" />`),
  xml(
    'Directory.Packages.props',
    'Project/ItemGroup',
    name => `<PackageVersion Include="${name}" Version="1" />`,
  ),
]
