import type { Entry, Findings, FoundCommand, Yard } from '../findings.ts'
import { aboveThenHere, runAbove } from '../lockfiles.ts'
import { isTable, jsonOf, type ProjectFiles, textAt, valueAt } from '../project-files.ts'
import { placesOf, sourceFiles, testsAmong } from '../sources.ts'
import { testTarget } from '../task-files.ts'
import { dependsOn, nodeBench } from './node-bench.ts'
import { nodeManager } from './node-manager.ts'

const SOURCES = /\.[cm]?[jt]sx?$/
const TESTS = [
  { pattern: '**/*.test.*', matches: /\.test\.[^/]+$/ },
  { pattern: '**/*.spec.*', matches: /\.spec\.[^/]+$/ },
  { pattern: '**/__tests__/', matches: /(?:^|\/)__tests__\// },
]

export function detectNode(yard: Yard): Findings | null {
  const { files } = yard
  const manifest = jsonOf(files, 'package.json')
  const sources = sourceFiles(files, SOURCES)
  if (!files.paths.includes('package.json')) return null
  const { manager } = nodeManager(yard)
  const { bench, notes } = nodeBench(files, manifest, manager)
  const mutable = placesOf(sources, ['src/', 'lib/', 'source/'])
  return {
    language: 'node',
    manager: manager.name,
    setup: setupOf(yard, manifest),
    test: testOf(files, manifest, manager.test, manager.exec),
    bench,
    mutable,
    immutable: testsAmong(files, mutable, TESTS),
    entry: entryOf(files, manifest),
    interpreter: 'node',
    weight: sources.length,
    notes,
  }
}

function setupOf(yard: Yard, manifest: unknown): FoundCommand | null {
  const { manager, lock } = nodeManager(yard)
  const steps = lock?.steps ?? 0
  const needsPackages = ['dependencies', 'devDependencies', 'workspaces'].some(
    key => Object.keys(Object(valueAt(manifest, key))).length > 0,
  )
  const builds = needsBuild(yard.files, manifest)
  const install = lock === null ? manager.freeInstall : manager.install
  const from = lock?.name ?? 'package.json'
  if (!builds) return needsPackages || steps > 0 ? { command: runAbove(steps, install), from } : null
  const build = manager.run('build')
  const all = needsPackages || steps > 0 ? `${aboveThenHere(steps, install)} && ${build}` : build
  return { command: all, from: `${from} and scripts.build` }
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
