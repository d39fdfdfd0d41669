import { parse as parseYaml, YAMLParseError } from 'yaml'
import type { FoundBenchmark, FoundCommand } from './findings.ts'
import { isTable, type ProjectFiles, getNestedValue } from './project-files.ts'

interface TaskFile {
  file: string
  run: string
  names: string[]
}

/** Makefile, justfile and Taskfile: a target's name is all that is asked of them. */
function listTaskFiles(files: ProjectFiles): TaskFile[] {
  const found: TaskFile[] = []
  for (const file of ['Makefile', 'makefile', 'justfile', 'Justfile', 'Taskfile.yml', 'Taskfile.yaml']) {
    const text = files.text(file)
    if (text === null) continue
    if (/^t/i.test(file)) found.push({ file, run: 'task', names: parseTaskNames(text) })
    else found.push({ file, run: /^m/i.test(file) ? 'make' : 'just', names: parseRuleNames(text) })
  }
  return found
}

function parseRuleNames(text: string): string[] {
  const names = [...text.matchAll(/^@?([A-Za-z][\w-]*)(?:[ \t]+(?![=?+:])[^:\n]*)?:(?![:=])/gm)]
  return names.map(match => match[1] ?? '')
}

function parseTaskNames(text: string): string[] {
  try {
    const tasks = getNestedValue(parseYaml(text), 'tasks')
    return isTable(tasks) ? Object.keys(tasks) : []
  } catch (error) {
    if (error instanceof YAMLParseError) return []
    throw error
  }
}

function findTarget(files: ProjectFiles, wanted: readonly string[]): FoundCommand | null {
  for (const { file, run, names } of listTaskFiles(files)) {
    const name = wanted.find(each => names.includes(each))
    if (name !== undefined) return { command: `${run} ${name}`, from: `target ${name} of ${file}` }
  }
  return null
}

export function findTestTarget(files: ProjectFiles): FoundCommand | null {
  return findTarget(files, ['test', 'tests', 'check'])
}

export const BENCH_NAMES = ['bench', 'benchmark', 'benchmarks', 'perf'] as const

/** What the bench target of a Makefile is made from, so far as those are targets of it as well. */
export function listBenchNeeds(files: ProjectFiles): string[] {
  const text = files.text('Makefile') ?? files.text('makefile') ?? ''
  const names = parseRuleNames(text)
  const name = BENCH_NAMES.find(each => names.includes(each))
  const needs =
    name === undefined ? '' : (new RegExp(`^${name}[ \\t]*:(?!=)([^\\n#;]*)`, 'm').exec(text)?.[1] ?? '')
  return needs.split(/\s+/).filter(each => names.includes(each))
}

export function findBenchTarget(files: ProjectFiles): FoundBenchmark | null {
  const found = findTarget(files, BENCH_NAMES)
  return found === null ? null : { ...found, output: 'json', metric: null }
}
