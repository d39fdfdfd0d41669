import type { Entry, Findings, FoundCommand, Yard } from '../findings.ts'
import { aboveThenHere, runAbove } from '../lockfiles.ts'
import { isTable, jsonOf, type ProjectFiles, textAt, valueAt } from '../project-files.ts'
import { dotfilesAmong, placesOf, sourceFiles, testsAmong } from '../sources.ts'
import { testTarget } from '../task-files.ts'
import { dependsOn, nodeBench } from './node-bench.ts'
import { nodeManager } from './node-manager.ts'

const SOURCES = /(?<!\.d)\.[cm]?[jt]sx?$/
const NATIVE = /\.(?:c|cc|cpp|cxx|h|hpp)$/
/** What a build writes, where it is committed. */
const GENERATED = /^(?:umd|cjs|esm|es|out|build|coverage)\//
const TESTS = [
  { pattern: '**/*.test.*', matches: /\.test\.[^/]+$/ },
  { pattern: '**/*.spec.*', matches: /\.spec\.[^/]+$/ },
  { pattern: '**/__tests__/', matches: /(?:^|\/)__tests__\// },
  { pattern: '**/test/', matches: /(?:^|\/)test\// },
]

export function detectNode(yard: Yard): Findings | null {
  const { files } = yard
  const manifest = jsonOf(files, 'package.json')
  if (!files.paths.includes('package.json')) return null
  const sources = sourcesOf(files)
  const { manager } = nodeManager(yard)
  const { bench, builds, notes } = nodeBench(files, manifest, manager)
  const mutable = mutableOf(manifest, sources)
  const product = productOf(files, manifest, mutable)
  return {
    language: 'node',
    manager: manager.name,
    setup: setupOf(yard, manifest, builds),
    test: testOf(files, manifest, manager.test, manager.exec),
    bench,
    mutable,
    immutable: [...testsAmong(files, mutable, TESTS), ...dotfilesAmong(files, mutable)],
    entry: entryOf(files, manifest),
    interpreter: 'node',
    weight: sources.length,
    notes,
    ...(product === null ? {} : { product: { path: product, build: manager.run('build') } }),
  }
}

function sourcesOf(files: ProjectFiles): string[] {
  const native = files.paths.includes('binding.gyp') ? sourceFiles(files, NATIVE) : []
  const found = [...sourceFiles(files, SOURCES), ...native]
  const own = found.filter(path => !GENERATED.test(path))
  return own.length > 0 ? own : found
}

/** Where an entry lies outside the usual directory, all the sources may change: it would be half of the code. */
function mutableOf(manifest: unknown, sources: readonly string[]): string[] {
  const homes = ['src/', 'lib/', 'source/']
  const home = homes.find(place => sources.some(path => path.startsWith(place)))
  const entries = declaredEntries(manifest).filter(path => sources.includes(path))
  const isBuilt = home === 'src/' && textAt(manifest, 'scripts', 'build') !== null
  const outside = entries.filter(path => home === undefined || !path.startsWith(home))
  return outside.length > 0 && !isBuilt ? placesOf(sources, [], outside) : placesOf(sources, homes)
}

/** The file that people download, where a build makes it: its size is what a size goal is about. */
function productOf(files: ProjectFiles, manifest: unknown, mutable: readonly string[]): string | null {
  if (textAt(manifest, 'scripts', 'build') === null) return null
  const limits = ['size-limit', 'bundlesize'].flatMap(key => {
    const first = Array.isArray(valueAt(manifest, key)) ? Object(valueAt(manifest, key))[0] : null
    return textAt(first, 'path') ?? []
  })
  const candidates = [
    ...limits,
    ...['unpkg', 'jsdelivr', 'browser'].flatMap(key => textAt(manifest, key) ?? []),
    ...declaredEntries(manifest),
  ].map(path => path.replace(/^\.\//, ''))
  const isSource = (path: string) => mutable.some(place => path === place || path.startsWith(place))
  return candidates.find(path => /\.[cm]?js$/.test(path) && !/[*{]/.test(path) && !isSource(path)) ?? null
}

/** `builds`: what the benchmark needs built or installed. */
function setupOf(yard: Yard, manifest: unknown, builds: readonly string[]): FoundCommand | null {
  const { manager, lock } = nodeManager(yard)
  const steps = lock?.steps ?? 0
  const needsPackages = ['dependencies', 'devDependencies', 'workspaces'].some(
    key => Object.keys(Object(valueAt(manifest, key))).length > 0,
  )
  const own = needsBuild(yard.files, manifest) ? [manager.run('build')] : []
  const install = lock === null ? manager.freeInstall : manager.install
  const all = [...new Set([...own, ...builds])].filter(
    each => each !== install && each !== manager.freeInstall,
  )
  const from = lock?.name ?? 'package.json'
  const installs = needsPackages || steps > 0
  if (all.length === 0) return installs ? { command: runAbove(steps, install), from } : null
  const first = installs ? [aboveThenHere(steps, install)] : []
  const reasons = [
    from,
    ...(own.length > 0 ? ['scripts.build'] : []),
    ...(builds.length > 0 ? ['the benchmark'] : []),
  ]
  return { command: [...first, ...all].join(' && '), from: reasons.join(', ') }
}

/** What people import is made by the build and not committed. */
function needsBuild(files: ProjectFiles, manifest: unknown): boolean {
  if (textAt(manifest, 'scripts', 'build') === null) return false
  const paths = declaredEntries(manifest)
  return paths.length > 0 && paths.every(path => !files.paths.includes(path))
}

const NO_TEST = /no test specified/

function testOf(files: ProjectFiles, manifest: unknown, test: string, exec: string): FoundCommand | null {
  const script = textAt(manifest, 'scripts', 'test')
  if (script !== null && !NO_TEST.test(script)) return { command: test, from: 'scripts.test of package.json' }
  if (dependsOn(manifest, 'vitest')) return { command: `${exec} vitest run`, from: 'vitest in package.json' }
  if (dependsOn(manifest, 'jest')) return { command: `${exec} jest`, from: 'jest in package.json' }
  const own = files.paths.find(path => /(?:^|\/)(?:test\/.*|[^/]+[._-]test)\.[cm]?js$/.test(path))
  return own === undefined ? testTarget(files) : { command: 'node --test', from: own }
}

function entryOf(files: ProjectFiles, manifest: unknown): Entry | null {
  const usual = ['src/index.js', 'src/index.mjs', 'index.js', 'index.mjs', 'lib/index.js']
  const built = needsBuild(files, manifest)
  const declared = declaredEntries(manifest).filter(path => built || files.paths.includes(path))
  const path = [...declared, ...usual.filter(each => files.paths.includes(each))].find(each =>
    /\.[cm]?js$/.test(each),
  )
  if (path !== undefined) return { kind: 'module', path }
  const program = binOf(manifest)
  if (program === null || !/\.[cm]?js$/.test(program)) return null
  return { kind: 'program', command: `node ${program} --help` }
}

function declaredEntries(manifest: unknown): string[] {
  const exported = valueAt(manifest, 'exports')
  const candidates = [
    typeof exported === 'string' ? exported : firstText(valueAt(exported, '.') ?? null),
    textAt(manifest, 'module'),
    textAt(manifest, 'main'),
  ]
  return candidates.flatMap(path => (path === null ? [] : [path.replace(/^\.\//, '')]))
}

function firstText(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (!isTable(value)) return null
  for (const key of ['import', 'node', 'default', 'require']) {
    const found = firstText(value[key])
    if (found !== null) return found
  }
  return null
}

function binOf(manifest: unknown): string | null {
  const bin = valueAt(manifest, 'bin')
  const path = typeof bin === 'string' ? bin : Object.values(Object(bin))[0]
  return typeof path === 'string' ? path.replace(/^\.\//, '') : null
}
