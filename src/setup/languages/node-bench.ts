import { benchScript, othersNote } from '../bench-script.ts'
import { toolBenchmark } from '../benchmark-tools.ts'
import type { FoundBenchmark, FoundCommand } from '../findings.ts'
import { printedBy } from '../printed-metric.ts'
import { type ProjectFiles, textAt, valueAt } from '../project-files.ts'
import { BENCH_NAMES, benchTarget } from '../task-files.ts'
import type { NodeManager } from './node-manager.ts'
import { withTimedLibrary } from './node-timed.ts'

interface FoundHere {
  bench: FoundBenchmark | null
  notes: string[]
}

/** A script of package.json first: that is where people say how it is run. */
export function nodeBench(files: ProjectFiles, manifest: unknown, manager: NodeManager): FoundHere {
  const named = scriptNamed(files, manifest, manager)
  if (named !== null) return named
  if (usesVitest(manifest) && files.paths.some(path => /\.(?:bench|benchmark)\.[cm]?[jt]sx?$/.test(path))) {
    return { bench: vitestBench(`${manager.exec} vitest bench --run`, '*.bench files'), notes: [] }
  }
  const script = benchScript(files, /\.[cm]?js$/, 'node')
  if (script !== null) {
    const { bench, notes } = withTimedLibrary(script.found, files.text(script.found.from))
    return { bench, notes: [...notes, ...othersNote(script.others)] }
  }
  return { bench: benchTarget(files), notes: [] }
}

function scriptNamed(files: ProjectFiles, manifest: unknown, manager: NodeManager): FoundHere | null {
  const scripts = valueAt(manifest, 'scripts')
  const name = BENCH_NAMES.find(each => textAt(scripts, each) !== null)
  if (name === undefined) return null
  const text = textAt(scripts, name) ?? ''
  const from = `scripts.${name} of package.json`
  const command = manager.run(name)
  const tool = toolScript(text, { command, from }, manager)
  if (tool !== null) return { bench: tool, notes: [] }
  const source = sourceOf(files, text)
  return withTimedLibrary({ command, from, ...printedBy(source ?? text) }, source)
}

function toolScript(
  text: string,
  { command, from }: FoundCommand,
  manager: NodeManager,
): FoundBenchmark | null {
  if (/\bvitest\b.*\bbench\b/.test(text)) return vitestBench(`${manager.exec} ${asOnce(text)}`, from)
  if (/\bhyperfine\b/.test(text))
    return toolBenchmark(`${command}${manager.pass} --export-json "$WINNOW_RESULT_PATH"`, from, 'hyperfine')
  return null
}

/** `vitest bench` watches where it sees a terminal. */
function asOnce(text: string): string {
  const own = /vitest\b[^&|;]*/.exec(text)?.[0].trim() ?? 'vitest bench'
  return /(?:--run|\brun\b)/.test(own) ? own : `${own} --run`
}

function vitestBench(command: string, from: string): FoundBenchmark {
  return toolBenchmark(`${command} --outputJson "$WINNOW_RESULT_PATH"`, from, 'vitest')
}

/** What a script like `node bench/parse.mjs` starts, where it is a file that is read here. */
function sourceOf(files: ProjectFiles, script: string): string | null {
  const words = script.split(/\s+/).map(word => word.replace(/^\.\//, ''))
  for (const word of words) {
    const text = files.text(word)
    if (text !== null && /\.\w+$/.test(word)) return text
  }
  return null
}

export function usesVitest(manifest: unknown): boolean {
  return dependsOn(manifest, 'vitest')
}

export function dependsOn(manifest: unknown, name: string): boolean {
  return ['dependencies', 'devDependencies'].some(kind => valueAt(manifest, kind, name) !== undefined)
}
