import { posix } from 'node:path'
import {
  BENCH_NAMES,
  createToolBenchmark,
  describeOtherBenchmarks,
  detectPrintedMetric,
  findBenchmark,
  findBenchScript,
  getOverallMetric,
  isModuleOnly,
} from './benchmarks.ts'
import {
  findNearestAbove,
  type FoundBenchmark,
  type FoundCommand,
  getNestedText,
  getNestedValue,
  type ProjectFiles,
  type ProjectLocation,
  readJsonManifest,
} from './project.ts'

interface NodeBenchmark {
  bench: FoundBenchmark | null
  /** Commands that build or install for the benchmark, before the timed part. */
  builds: string[]
  notes: string[]
}

/** Prefers a script of package.json, because people document their benchmarks there. */
export function findNodeBenchmark(
  files: ProjectFiles,
  manifest: unknown,
  manager: NodeManager,
): NodeBenchmark {
  const named = findBenchmarkScript(files, manifest, manager)
  if (named !== null) return named
  if (
    hasDependency(manifest, 'vitest') &&
    files.paths.some(path => /\.(?:bench|benchmark)\.[cm]?[jt]sx?$/.test(path))
  ) {
    const bench = createVitestBenchmark(`${manager.exec} vitest bench --run`, '*.bench files')
    return { bench, builds: [], notes: [] }
  }
  const script = findBenchScript(files, /\.[cm]?js$/, 'node')
  if (script !== null) {
    const { from } = script.found
    const { bench, notes } = withTimedLibrary(script.found, '', readBenchmarkSources(files, from))
    return {
      bench,
      builds: listOwnInstalls(files, posix.dirname(from), manager),
      notes: [...notes, ...describeOtherBenchmarks(script.others)],
    }
  }
  return { ...findBenchmark(files, /\.[cm]?js$/), builds: [] }
}

const OTHER_NAMES = /^(?:tests?[:.-])?bench(?:mark)?s?$|^bench(?:mark)?[:.-]\w+$/
/** These scripts compare branches, which winnow does itself. */
const COMPARES = /\b(?:cmp|compare|diff|ci|report)\b/

function findBenchmarkScript(
  files: ProjectFiles,
  manifest: unknown,
  manager: NodeManager,
): NodeBenchmark | null {
  const scripts = Object(getNestedValue(manifest, 'scripts'))
  const name =
    BENCH_NAMES.find(each => getNestedText(scripts, each) !== null) ??
    Object.keys(scripts).find(each => OTHER_NAMES.test(each) && !COMPARES.test(each))
  if (name === undefined) return null
  const text = getNestedText(scripts, name) ?? ''
  const from = `scripts.${name} of package.json`
  const tool = findToolBenchmark(text, { command: manager.run(name), from }, manager)
  if (tool !== null) return { bench: tool, builds: [], notes: [] }
  const before = getNestedText(scripts, `pre${name}`) === null ? [] : [manager.run(`pre${name}`)]
  const split = splitScript(files, text, manager)
  const builds = [...before, ...split.builds]
  const path = findStartedFile(files, split.directory, split.last)
  // A script that only starts a file is run directly, so that the time of the package manager is not
  // measured.
  const isPlain = /^(?:\w+=\S+\s+)*node\s/.test(split.last) && !/[;|<>&]/.test(split.last)
  const isDirect = builds.length > 0 || split.directory !== '' || isPlain
  const command = isDirect ? split.command : manager.run(name)
  const source = path === null ? null : files.text(path)
  if (path !== null && isModuleOnly(path, source)) return null
  const sources = path === null ? [] : readBenchmarkSources(files, path)
  const found = { command, from, ...detectPrintedMetric(source ?? text) }
  const { bench, notes } = withTimedLibrary(found, text, sources)
  const own = path === null ? [] : listOwnInstalls(files, posix.dirname(path), manager)
  return { bench, builds: [...builds, ...own.filter(each => !builds.includes(each))], notes }
}

function findToolBenchmark(
  text: string,
  { command, from }: FoundCommand,
  manager: NodeManager,
): FoundBenchmark | null {
  if (/\bvitest\b.*\bbench\b/.test(text))
    return createVitestBenchmark(`${manager.exec} ${toSingleRun(text)}`, from)
  if (/\bhyperfine\b/.test(text))
    return createToolBenchmark(
      `${command}${manager.pass} --export-json "$WINNOW_RESULT_PATH"`,
      from,
      'hyperfine',
    )
  return null
}

/** `vitest bench` keeps watching files in a terminal. */
function toSingleRun(text: string): string {
  const own = /vitest\b[^&|;]*/.exec(text)?.[0].trim() ?? 'vitest bench'
  return /(?:--run|\brun\b)/.test(own) ? own : `${own} --run`
}

function createVitestBenchmark(command: string, from: string): FoundBenchmark {
  return createToolBenchmark(`${command} --outputJson "$WINNOW_RESULT_PATH"`, from, 'vitest')
}

/** Finds the file that a command such as `node bench/parse.mjs` starts. Null: no committed file. */
function findStartedFile(files: ProjectFiles, directory: string, script: string): string | null {
  const words = script.split(/\s+/).map(word => posix.normalize(posix.join(directory, word)))
  return words.find(word => /\.\w+$/.test(word) && files.text(word) !== null) ?? null
}

const MOST_SOURCES = 8

/** Reads the file and the files in its directory that it names: workers, threads, suites. */
function readBenchmarkSources(files: ProjectFiles, start: string): string[] {
  const seen = [start]
  for (const path of seen) {
    if (seen.length > MOST_SOURCES) break
    const text = files.text(path) ?? ''
    const named = [...text.matchAll(/['"`]([\w./-]+)['"`]/g)].map(([, name = '']) =>
      posix.normalize(posix.join(posix.dirname(path), name)),
    )
    const neighbors = named
      .flatMap(name => [name, `${name}.js`, `${name}.mjs`, `${name}.cjs`])
      .filter(name => files.text(name) !== null && !seen.includes(name))
    seen.push(...new Set(neighbors))
  }
  return seen.flatMap(path => files.text(path) ?? [])
}

/** A benchmark may have its own package.json, which the project's installation ignores. */
function listOwnInstalls(files: ProjectFiles, directory: string, manager: NodeManager): string[] {
  if (directory === '.' || directory === '') return []
  const manifest = readJsonManifest(files, `${directory}/package.json`)
  const needs = ['dependencies', 'devDependencies'].some(
    key => Object.keys(Object(getNestedValue(manifest, key))).length > 0,
  )
  if (!needs) return []
  const locked = files.paths.includes(`${directory}/package-lock.json`) && manager.name === 'npm'
  return [`(cd ${directory} && ${locked ? manager.install : manager.freeInstall})`]
}

export function hasDependency(manifest: unknown, name: string): boolean {
  return ['dependencies', 'devDependencies'].some(kind => getNestedValue(manifest, kind, name) !== undefined)
}

// Preparation and measurement in one script

/** A script of package.json. Preparing commands are split off as setup, so that they are not timed. */
interface SplitScript {
  builds: string[]
  /** The remaining commands. */
  command: string
  /** The last of the remaining commands, and its directory. Empty: the project's directory. */
  last: string
  directory: string
}

const RUN = /^(?:npm|pnpm|yarn|bun)(?:\s+(?:run|run-script))?(?:\s+-{1,2}[\w-]+)*\s+([\w:.-]+)\s*$/
const INSTALL = /^(?:npm|pnpm|yarn|bun)\s+(?:ci|i|install)\b/
const PREPARES = /^(?:pre)?(?:build|compile|prepare|bundle|transpile|generate)/
const BUILD_TOOLS =
  /^(?:npx\s+)?(?:tsc|tsup|rollup|rolldown|esbuild|webpack|swc|babel|parcel|gulp|make|cmake|cargo build|node-gyp|wasm-pack|vite build|node\s+(?:\.\/)?(?:scripts\/)?build[\w./-]*)(?=\s|$)/

/** `npm run build && node test/bench.js` builds once, and only the rest is measured. */
function splitScript(files: ProjectFiles, script: string, manager: NodeManager): SplitScript {
  const parts = script
    .split('&&')
    .map(part => part.trim())
    .filter(part => part !== '')
  const builds: string[] = []
  const rest: string[] = []
  let directory = ''
  for (const [index, part] of parts.entries()) {
    const target = /^cd\s+([\w./-]+)$/.exec(part)?.[1]
    if (target !== undefined) directory = posix.normalize(posix.join(directory, target))
    else if (index < parts.length - 1 && isPreparation(part)) {
      builds.push(wrapInDirectory(directory, toSetupCommand(part, manager)))
    } else rest.push(part)
  }
  const last = expandNestedScript(files, directory, rest.at(-1) ?? '', manager)
  const all = [...rest.slice(0, -1), last]
  const command = directory === '' ? all.join(' && ') : [`cd ${directory}`, ...all].join(' && ')
  return { builds, command, last, directory }
}

function wrapInDirectory(directory: string, command: string): string {
  return directory === '' ? command : `(cd ${directory} && ${command})`
}

function isPreparation(part: string): boolean {
  const [, name = ''] = RUN.exec(part) ?? []
  return INSTALL.test(part) || PREPARES.test(name) || BUILD_TOOLS.test(part)
}

function toSetupCommand(part: string, manager: NodeManager): string {
  if (INSTALL.test(part)) return manager.freeInstall
  const [, name] = RUN.exec(part) ?? []
  if (name !== undefined) return manager.run(name)
  return toStartableCommand(part, manager)
}

/** Programs of node_modules are on the PATH of scripts only. */
function toStartableCommand(part: string, manager: NodeManager): string {
  const first = part.split(/\s+/).find(word => !/^\w+=/.test(word)) ?? ''
  const isGlobal = /^(?:node|npm|npx|pnpm|yarn|bun|sh|bash|make|cmake|cargo|time|env|\.{0,2}\/.*)$/.test(
    first,
  )
  return isGlobal ? part : `${manager.exec} ${part}`
}

/** Replaces `npm test` in the directory of the benchmarks by the script of its package.json. */
function expandNestedScript(
  files: ProjectFiles,
  directory: string,
  part: string,
  manager: NodeManager,
): string {
  const [, name] = RUN.exec(part) ?? []
  const manifest = readJsonManifest(files, directory === '' ? 'package.json' : `${directory}/package.json`)
  const text = name === undefined ? null : getNestedText(manifest, 'scripts', name)
  return toStartableCommand(text === null || /[;|<>&]/.test(text) ? part : text, manager)
}

// Benchmark libraries

const IMPORTED =
  /(?:from|require\(|import\()\s*['"](tinybench|mitata|benchmark|benny|cronometro|autocannon)(?:\/[^'"]*)?['"]/
const STARTED = /(?:^|[\s/;&|"'`])(autocannon|wrk2?|k6|bombardier|oha)\s/
const PRINTS_RATES =
  /ops\/s|String\(\s*[\w.]+\.target\b|\.target\.toString\(|\$\{\s*[\w.]+\.target\s*\}|console\.log\(\s*[\w.]+\.target\b/
const PRINTS_TASKS = /JSON\.stringify\([^;]*\.tasks\b/

interface TimedBenchmark {
  bench: FoundBenchmark
  notes: string[]
}

/** `sources` holds the text of the benchmark and of the files next to it that it starts. */
function withTimedLibrary(found: FoundBenchmark, script: string, sources: readonly string[]): TimedBenchmark {
  const all = sources.join('\n')
  const [, library] = IMPORTED.exec(all) ?? STARTED.exec(script) ?? []
  if (library === undefined || found.metric !== null) return { bench: found, notes: [] }
  switch (library) {
    case 'tinybench':
      return readTinybench(found, all)
    case 'benchmark': {
      const line = 'suite.on("cycle", event => console.log(String(event.target)))'
      const notes = PRINTS_RATES.test(all) ? [] : [`let ${found.from} print every result: ${line}`]
      return { bench: setOutputFormat(found, 'benchmark-js'), notes }
    }
    case 'mitata':
      return { bench: setOutputFormat(found, 'mitata'), notes: [] }
    default:
      return readUnknownLibrary(found, library)
  }
}

function setOutputFormat(found: FoundBenchmark, output: FoundBenchmark['output']): FoundBenchmark {
  const name = getOverallMetric(output)
  return { ...found, output, metric: name === undefined ? null : { name, direction: 'minimize' } }
}

function readTinybench(found: FoundBenchmark, all: string): TimedBenchmark {
  if (/ops\/s/.test(all)) return { bench: setOutputFormat(found, 'benchmark-js'), notes: [] }
  const metric = { name: 'geomean_median_ms', direction: 'minimize' } as const
  const line = 'console.log(JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result }))))'
  const notes = PRINTS_TASKS.test(all)
    ? []
    : [`let ${found.from} print nothing but what tinybench measured: ${line}`]
  return { bench: { ...found, output: 'vitest', metric }, notes }
}

/** Such a tool runs for a fixed time, so only a number that it prints can be the metric. */
function readUnknownLibrary(found: FoundBenchmark, library: string): TimedBenchmark {
  const metric = { name: 'ops_per_second', direction: 'maximize' } as const
  const note = `${library} runs for a fixed time, so the time of ${found.from} does not show its speed: let it print METRIC ops_per_second=<number>; check fails until it does`
  return { bench: { ...found, output: 'metric-lines', metric }, notes: [note] }
}

// Package managers

export interface NodeManager {
  name: 'npm' | 'pnpm' | 'yarn' | 'bun'
  /** Installs from the lock file without changing it. */
  install: string
  freeInstall: string
  test: string
  /** Prints only the output of the script, without a banner. */
  run: (script: string) => string
  /** Separates arguments for the script. */
  pass: '' | ' --'
  exec: string
}

const NPM: NodeManager = {
  name: 'npm',
  install: 'npm ci',
  freeInstall: 'npm install --no-package-lock',
  test: 'npm test',
  run: script => `npm run --silent ${script}`,
  pass: ' --',
  exec: 'npx --no-install',
}
const PNPM: NodeManager = {
  name: 'pnpm',
  install: 'pnpm install --frozen-lockfile',
  freeInstall: 'pnpm install --no-lockfile',
  test: 'pnpm test',
  run: script => `pnpm --silent run ${script}`,
  pass: '',
  exec: 'pnpm exec',
}
const YARN: NodeManager = {
  name: 'yarn',
  install: 'yarn install --immutable',
  freeInstall: 'yarn install',
  test: 'yarn test',
  run: script => `yarn run ${script}`,
  pass: '',
  exec: 'yarn exec',
}
const YARN_CLASSIC: NodeManager = {
  ...YARN,
  install: 'yarn install --frozen-lockfile',
  freeInstall: 'yarn install --no-lockfile',
  run: script => `yarn --silent run ${script}`,
  exec: 'yarn --silent exec',
}
const BUN: NodeManager = {
  name: 'bun',
  install: 'bun install --frozen-lockfile',
  freeInstall: 'bun install --no-save',
  test: 'bun run test',
  run: script => `bun run --silent ${script}`,
  pass: '',
  exec: 'bunx',
}

const LOCKS: Readonly<Record<string, NodeManager>> = {
  'pnpm-lock.yaml': PNPM,
  'bun.lock': BUN,
  'bun.lockb': BUN,
  'yarn.lock': YARN,
  'package-lock.json': NPM,
  'npm-shrinkwrap.json': NPM,
}

export function findNodeManager(project: ProjectLocation) {
  const { files, repository } = project
  const lock = findNearestAbove(project, Object.keys(LOCKS))
  const declared =
    getNestedText(readJsonManifest(files, 'package.json'), 'packageManager') ??
    getNestedText(readJsonManifest(repository, 'package.json'), 'packageManager')
  const [, name, version] = /^(npm|pnpm|yarn|bun)@(\d+)/.exec(declared ?? '') ?? []
  const byName = [NPM, PNPM, YARN, BUN].find(each => each.name === name)
  const manager = byName ?? LOCKS[lock?.name ?? ''] ?? NPM
  const isClassic = name === 'yarn' ? version === '1' : !repository.paths.includes('.yarnrc.yml')
  return { manager: manager === YARN && isClassic ? YARN_CLASSIC : manager, lock }
}
