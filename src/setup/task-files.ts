import { parse as parseYaml, YAMLParseError } from 'yaml'
import type { FoundBenchmark, FoundCommand } from './findings.ts'
import { isTable, type ProjectFiles, valueAt } from './project-files.ts'

interface Targets {
  file: string
  run: string
  names: string[]
}

/** Makefile, justfile and Taskfile: a target's name is all that is asked of them. */
function targetsOf(files: ProjectFiles): Targets[] {
  const found: Targets[] = []
  for (const file of ['Makefile', 'makefile', 'justfile', 'Justfile', 'Taskfile.yml', 'Taskfile.yaml']) {
    const text = files.text(file)
    if (text === null) continue
    if (/^t/i.test(file)) found.push({ file, run: 'task', names: taskNames(text) })
    else found.push({ file, run: /^m/i.test(file) ? 'make' : 'just', names: ruleNames(text) })
  }
  return found
}

function ruleNames(text: string): string[] {
  const names = [...text.matchAll(/^@?([A-Za-z][\w-]*)(?:[ \t]+(?![=?+:])[^:\n]*)?:(?![:=])/gm)]
  return names.map(match => match[1] ?? '')
}

function taskNames(text: string): string[] {
  try {
    const tasks = valueAt(parseYaml(text), 'tasks')
    return isTable(tasks) ? Object.keys(tasks) : []
  } catch (error) {
    if (error instanceof YAMLParseError) return []
    throw error
  }
}

function targetNamed(files: ProjectFiles, wanted: readonly string[]): FoundCommand | null {
  for (const { file, run, names } of targetsOf(files)) {
    const name = wanted.find(each => names.includes(each))
    if (name !== undefined) return { command: `${run} ${name}`, from: `target ${name} of ${file}` }
  }
  return null
}

export function testTarget(files: ProjectFiles): FoundCommand | null {
  return targetNamed(files, ['test', 'tests', 'check'])
}

export const BENCH_NAMES = ['bench', 'benchmark', 'benchmarks', 'perf'] as const

/** What the bench target of a Makefile is made from, so far as those are targets of it as well. */
export function benchNeeds(files: ProjectFiles): string[] {
  const text = files.text('Makefile') ?? files.text('makefile') ?? ''
  const names = ruleNames(text)
  const name = BENCH_NAMES.find(each => names.includes(each))
  const needs =
    name === undefined ? '' : (new RegExp(`^${name}[ \\t]*:(?!=)([^\\n#;]*)`, 'm').exec(text)?.[1] ?? '')
  return needs.split(/\s+/).filter(each => names.includes(each))
}

export function benchTarget(files: ProjectFiles): FoundBenchmark | null {
  const found = targetNamed(files, BENCH_NAMES)
  return found === null ? null : { ...found, output: 'json', metric: null }
}
