import { posix } from 'node:path'
import { findBenchScript, isModuleOnly, describeOtherBenchmarks } from '../bench-script.ts'
import { createToolBenchmark } from '../benchmark-tools.ts'
import type { FoundBenchmark, FoundCommand } from '../findings.ts'
import { detectPrintedMetric } from '../printed-metric.ts'
import { readJsonManifest, type ProjectFiles, getNestedText, getNestedValue } from '../project-files.ts'
import { BENCH_NAMES, findBenchTarget } from '../task-files.ts'
import type { NodeManager } from './node-manager.ts'
import { splitScript } from './node-script.ts'
import { withTimedLibrary } from './node-timed.ts'

export interface NodeBenchmark {
  bench: FoundBenchmark | null
  /** Commands that build or install for it, before anything is timed. */
  builds: string[]
  notes: string[]
}

/** A script of package.json first: that is where people say how it is run. */
export function findNodeBenchmark(
  files: ProjectFiles,
  manifest: unknown,
  manager: NodeManager,
): NodeBenchmark {
  const named = findBenchmarkScript(files, manifest, manager)
  if (named !== null) return named
  if (hasVitest(manifest) && files.paths.some(path => /\.(?:bench|benchmark)\.[cm]?[jt]sx?$/.test(path))) {
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
  return { bench: findBenchTarget(files), builds: [], notes: [] }
}

const OTHER_NAMES = /^(?:tests?[:.-])?bench(?:mark)?s?$|^bench(?:mark)?[:.-]\w+$/
/** Compares branches by itself, which is what winnow does. */
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
  // Where only a file is started, that is done without the package manager, whose own time would be measured.
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

/** `vitest bench` watches where it sees a terminal. */
function toSingleRun(text: string): string {
  const own = /vitest\b[^&|;]*/.exec(text)?.[0].trim() ?? 'vitest bench'
  return /(?:--run|\brun\b)/.test(own) ? own : `${own} --run`
}

function createVitestBenchmark(command: string, from: string): FoundBenchmark {
  return createToolBenchmark(`${command} --outputJson "$WINNOW_RESULT_PATH"`, from, 'vitest')
}

/** The file that `node bench/parse.mjs` and its like start; null where it is none that is committed. */
function findStartedFile(files: ProjectFiles, directory: string, script: string): string | null {
  const words = script.split(/\s+/).map(word => posix.normalize(posix.join(directory, word)))
  return words.find(word => /\.\w+$/.test(word) && files.text(word) !== null) ?? null
}

const MOST_SOURCES = 8

/** Its text, then that of the files in its directory that it names: workers, threads, suites. */
function readBenchmarkSources(files: ProjectFiles, start: string): string[] {
  const seen = [start]
  for (const path of seen) {
    if (seen.length > MOST_SOURCES) break
    const text = files.text(path) ?? ''
    const named = [...text.matchAll(/['"`]([\w./-]+)['"`]/g)].map(([, name = '']) =>
      posix.normalize(posix.join(posix.dirname(path), name)),
    )
    const beside = named
      .flatMap(name => [name, `${name}.js`, `${name}.mjs`, `${name}.cjs`])
      .filter(name => files.text(name) !== null && !seen.includes(name))
    seen.push(...new Set(beside))
  }
  return seen.flatMap(path => files.text(path) ?? [])
}

/** A benchmark may have packages of its own, which nothing else installs. */
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

export function hasVitest(manifest: unknown): boolean {
  return hasDependency(manifest, 'vitest')
}

export function hasDependency(manifest: unknown, name: string): boolean {
  return ['dependencies', 'devDependencies'].some(kind => getNestedValue(manifest, kind, name) !== undefined)
}
