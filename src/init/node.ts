import { findTestTarget } from './benchmarks.ts'
import type { HarnessTemplate, SkeletonRequest } from './harness.ts'
import { findNodeBenchmark, findNodeManager, hasDependency, type NodeManager } from './node-benchmark.ts'
import {
  type Detection,
  DOTFILES,
  type EntryPoint,
  type FoundCommand,
  getNestedText,
  getNestedValue,
  isTable,
  listImmutablePatterns,
  listSourceFiles,
  type ProjectFiles,
  type ProjectLocation,
  readJsonManifest,
  runAbove,
  selectSourcePlaces,
} from './project.ts'

const SOURCES = /(?<!\.d)\.[cm]?[jt]sx?$/
const NATIVE = /\.(?:c|cc|cpp|cxx|h|hpp)$/
/** Directories of build output that some projects commit. */
const GENERATED = /^(?:umd|cjs|esm|es|out|build|coverage)\//
const TESTS = [
  { pattern: '**/*.test.*', matches: /\.test\.[^/]+$/ },
  { pattern: '**/*.spec.*', matches: /\.spec\.[^/]+$/ },
  { pattern: '**/__tests__/', matches: /(?:^|\/)__tests__\// },
  { pattern: '**/test/', matches: /(?:^|\/)test\// },
]

export function detectNode(project: ProjectLocation): Detection | null {
  const { files } = project
  const manifest = readJsonManifest(files, 'package.json')
  if (!files.paths.includes('package.json')) return null
  const sources = listNodeSources(files)
  const found = findNodeManager(project)
  const { manager } = found
  const { bench, builds, notes } = findNodeBenchmark(files, manifest, manager)
  const mutable = selectMutable(manifest, sources)
  const product = findProduct(files, manifest, mutable)
  return {
    manager: manager.name,
    setup: findNodeSetup(files, manifest, found, builds),
    test: findNodeTest(files, manifest, manager),
    bench,
    mutable,
    immutable: listImmutablePatterns(files, mutable, [...TESTS, DOTFILES]),
    entry: findNodeEntry(files, manifest),
    interpreter: 'node',
    weight: sources.length,
    notes,
    ...(product === null ? {} : { product: { path: product, build: manager.run('build') } }),
  }
}

function listNodeSources(files: ProjectFiles): string[] {
  const native = files.paths.includes('binding.gyp') ? listSourceFiles(files, NATIVE) : []
  const found = [...listSourceFiles(files, SOURCES), ...native]
  const own = found.filter(path => !GENERATED.test(path))
  return own.length > 0 ? own : found
}

/**
 * If an entry is outside the usual directory, all sources are mutable, because that directory holds only part
 * of the code.
 */
function selectMutable(manifest: unknown, sources: readonly string[]): string[] {
  const homes = ['src/', 'lib/', 'source/']
  const home = homes.find(place => sources.some(path => path.startsWith(place)))
  const entries = listDeclaredEntries(manifest).filter(path => sources.includes(path))
  const isBuilt = home === 'src/' && getNestedText(manifest, 'scripts', 'build') !== null
  const outside = entries.filter(path => home === undefined || !path.startsWith(home))
  return outside.length > 0 && !isBuilt
    ? selectSourcePlaces(sources, [], outside)
    : selectSourcePlaces(sources, homes)
}

/** Finds the built file that people download. A goal about size means the size of this file. */
function findProduct(files: ProjectFiles, manifest: unknown, mutable: readonly string[]): string | null {
  if (getNestedText(manifest, 'scripts', 'build') === null) return null
  const limits = ['size-limit', 'bundlesize'].flatMap(key => {
    const listed = getNestedValue(manifest, key)
    return getNestedText(Array.isArray(listed) ? listed[0] : null, 'path') ?? []
  })
  const candidates = [
    ...limits,
    ...['unpkg', 'jsdelivr', 'browser'].flatMap(key => getNestedText(manifest, key) ?? []),
    ...listDeclaredEntries(manifest),
  ].map(path => path.replace(/^\.\//, ''))
  const isSource = (path: string) => mutable.some(place => path === place || path.startsWith(place))
  return candidates.find(path => /\.[cm]?js$/.test(path) && !/[*{]/.test(path) && !isSource(path)) ?? null
}

/** `builds` are the commands that the benchmark needs. */
function findNodeSetup(
  files: ProjectFiles,
  manifest: unknown,
  { manager, lock }: ReturnType<typeof findNodeManager>,
  builds: readonly string[],
): FoundCommand | null {
  const steps = lock?.steps ?? 0
  const needsPackages = ['dependencies', 'devDependencies', 'workspaces'].some(
    key => Object.keys(Object(getNestedValue(manifest, key))).length > 0,
  )
  const own = isBuildNeeded(files, manifest) ? [manager.run('build')] : []
  const install = lock === null ? manager.freeInstall : manager.install
  const all = [...new Set([...own, ...builds])].filter(
    each => each !== install && each !== manager.freeInstall,
  )
  const from = lock?.name ?? 'package.json'
  const installs = needsPackages || steps > 0
  if (all.length === 0) return installs ? { command: runAbove(steps, install), from } : null
  const first = steps === 0 ? install : `(${runAbove(steps, install)})`
  const reasons = [
    from,
    ...(own.length > 0 ? ['scripts.build'] : []),
    ...(builds.length > 0 ? ['the benchmark'] : []),
  ]
  return { command: [...(installs ? [first] : []), ...all].join(' && '), from: reasons.join(', ') }
}

/** The build makes the declared entries, and none of them is committed. */
function isBuildNeeded(files: ProjectFiles, manifest: unknown): boolean {
  if (getNestedText(manifest, 'scripts', 'build') === null) return false
  const paths = listDeclaredEntries(manifest)
  return paths.length > 0 && paths.every(path => !files.paths.includes(path))
}

function findNodeTest(
  files: ProjectFiles,
  manifest: unknown,
  { test, exec }: NodeManager,
): FoundCommand | null {
  const script = getNestedText(manifest, 'scripts', 'test')
  if (script !== null && !script.includes('no test specified'))
    return { command: test, from: 'scripts.test of package.json' }
  if (hasDependency(manifest, 'vitest'))
    return { command: `${exec} vitest run`, from: 'vitest in package.json' }
  if (hasDependency(manifest, 'jest')) return { command: `${exec} jest`, from: 'jest in package.json' }
  const own = files.paths.find(path => /(?:^|\/)(?:test\/.*|[^/]+[._-]test)\.[cm]?js$/.test(path))
  return own === undefined ? findTestTarget(files) : { command: 'node --test', from: own }
}

function findNodeEntry(files: ProjectFiles, manifest: unknown): EntryPoint | null {
  const usual = ['src/index.js', 'src/index.mjs', 'index.js', 'index.mjs', 'lib/index.js']
  const built = isBuildNeeded(files, manifest)
  const declared = listDeclaredEntries(manifest).filter(path => built || files.paths.includes(path))
  const path = [...declared, ...usual.filter(each => files.paths.includes(each))].find(each =>
    /\.[cm]?js$/.test(each),
  )
  if (path !== undefined) return { kind: 'module', path }
  const bin = getNestedValue(manifest, 'bin')
  const program = typeof bin === 'string' ? bin : Object.values(Object(bin))[0]
  if (typeof program !== 'string' || !/\.[cm]?js$/.test(program)) return null
  return { kind: 'program', command: `node ${program.replace(/^\.\//, '')} --help` }
}

function listDeclaredEntries(manifest: unknown): string[] {
  const exported = getNestedValue(manifest, 'exports')
  const candidates = [
    typeof exported === 'string' ? exported : findFirstText(getNestedValue(exported, '.') ?? null),
    getNestedText(manifest, 'module'),
    getNestedText(manifest, 'main'),
  ]
  return candidates.flatMap(path => (path === null ? [] : [path.replace(/^\.\//, '')]))
}

function findFirstText(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (!isTable(value)) return null
  for (const key of ['import', 'node', 'default', 'require']) {
    const found = findFirstText(value[key])
    if (found !== null) return found
  }
  return null
}

// Harness

export function buildNodeHarness({ name, entry }: SkeletonRequest): HarnessTemplate {
  const path = `bench/${name}.mjs`
  return {
    path,
    command: `node ${path}`,
    commentSign: '//',
    exampleCall:
      entry?.kind === 'module'
        ? 'return (await import(ENTRY)).parse(input)'
        : "return (await import(new URL('../src/parse.js', import.meta.url))).parse(input)",
    render: (head, workload) => `${head}
${renderNodeImports(entry)}
${workload}
async function workload(round) {
${renderNodeBody(entry)}
}
// ================================

// A child process loads and runs the code, so the code cannot end this process, print for it or change its clock.
if (process.argv[2] === 'child') {
  process.on('message', async ({ made, calls }) => {
    let answer
    for (let call = 1; call <= calls; call += 1) answer = await workload(made + call)
    process.send(typeof answer === 'string' ? answer.length : (JSON.stringify(answer) ?? '').length)
  })
} else {
  const child = fork(fileURLToPath(import.meta.url), ['child'], { stdio: ['ignore', 2, 2, 'ipc'] })
  child.on('exit', code => {
    console.error('the workload ended before it had answered, with exit code', code)
    process.exit(1)
  })
  let made = 0
  let outputBytes = 0
  /** Milliseconds of that many calls. */
  const took = async calls => {
    const start = performance.now()
    child.send({ made, calls })
    ;[outputBytes] = await once(child, 'message')
    made += calls
    return performance.now() - start
  }

  let calls = 1
  while ((await took(calls)) < 5) calls *= 2
  const times = []
  for (let round = 0; round < 15; round += 1) times.push((await took(calls)) / calls)
  times.sort((a, b) => a - b)
  console.log(JSON.stringify({ milliseconds: times[7], output_bytes: outputBytes }))
  process.exit()
}
`,
  }
}

const CHILD_IMPORTS = `import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
`

function renderNodeImports(entry: EntryPoint | null): string {
  const isProgram = entry?.kind === 'program'
  const start = `import { fork${isProgram ? ', spawnSync' : ''} } from 'node:child_process'\n${CHILD_IMPORTS}`
  if (entry?.kind !== 'module') return start
  return `${start}\nconst ENTRY = new URL('../${entry.path}', import.meta.url)\n`
}

function renderNodeBody(entry: EntryPoint | null): string {
  if (entry?.kind === 'module')
    return "  return Object.keys(await import(`${ENTRY}?round=${round}`)).concat('loaded')"
  if (entry?.kind === 'program') {
    const [, ...args] = entry.command.split(' ')
    const list = args.map(each => `'${each}'`).join(', ')
    return `  const { stdout, stderr, error } = spawnSync(process.execPath, [${list}], { encoding: 'utf8', timeout: 10_000 })
  if (error) throw error
  return stdout + stderr`
  }
  return "  return Array.from({ length: 10_000 }, (_, index) => (index * 7919 + round) % 10_007).sort((a, b) => a - b).join(' ')"
}
