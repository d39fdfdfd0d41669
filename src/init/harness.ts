import { quoteShell } from '../model/text.ts'
import { HARNESS_TODO } from '../spec/spec-facts.ts'
import type { DraftedGate, JudgedSubject } from './judged.ts'
import type { EntryPoint, Findings } from './project.ts'

export interface NewFile {
  /** Relative to the project's directory. */
  path: string
  text: string
}

/** A generated harness. It runs as it is, and marks where a person puts the workload. */
export interface Skeleton {
  files: NewFile[]
  edit: string
  command: string
  /** Runs after the project's own setup. */
  build: string | null
  calls: string
  /** `build` also builds the project, so the setup does not have to. */
  buildsProject: boolean
}

export interface SkeletonRequest {
  name: string
  entry: EntryPoint | null
  interpreter: string
}

/** The part of a harness that differs between languages. */
export interface HarnessTemplate {
  /** The file that a person edits. */
  path: string
  command: string
  /** How a person runs it. Defaults to the command. */
  byHand?: string
  commentSign: '#' | '//'
  exampleCall: string
  render: (head: string, workload: string) => string
  otherFiles?: NewFile[]
  build?: string
  buildsProject?: boolean
}

/** All generated harnesses print these two metrics. */
export const SKELETON_METRIC = 'milliseconds'
export const SKELETON_OUTPUT = 'output_bytes'

export function completeHarness(template: HarnessTemplate, entry: EntryPoint | null): Skeleton {
  const { path, command, byHand = command, commentSign: sign, build = null, buildsProject = false } = template
  const calls = describeEntry(entry)
  const workload = [
    '==== PUT YOUR WORKLOAD HERE ====',
    'Call the code to improve, with input as large as in real use, and return its answer:',
    `  ${template.exampleCall}`,
    `Until then this measures ${calls}.`,
    `${HARNESS_TODO}: delete this line once it is your workload; check and run refuse until then.`,
  ]
  const text = template.render(
    renderHeadComment(sign, byHand),
    workload.map(line => `${sign} ${line}`).join('\n'),
  )
  const files = [...(template.otherFiles ?? []), { path, text }]
  return { files, edit: path, command, build, calls, buildsProject }
}

/**
 * Measures the size of what the project delivers. Sizes repeat exactly, so one run of each side is enough.
 */
export function buildSizeHarness(
  { language, mutable, product }: Pick<Findings, 'language' | 'mutable' | 'product'>,
  name: string,
  committed: readonly string[],
): { file: NewFile; command: string; measures: string } {
  const path = `bench/${name}.sh`
  const command = `sh ${path}`
  // A committed build output does not change with an experiment.
  const folders = (PLACES[language] ?? []).filter(
    folder => !committed.some(each => each.startsWith(`${folder}/`)),
  )
  const sources = mutable.filter(pattern => !pattern.includes('*'))
  const measured = product === undefined ? sources : [product.path]
  const text = `${renderHeadComment('#', command)}
# ==== SAY WHAT IS MEASURED ====
# The files whose size counts, for example: set -- dist/app.min.js
set -- ${measured.map(quoteShell).join(' ') || '.'}
${product === undefined ? renderPlaceChoice(folders) : ''}# ==============================

echo "{\\"bytes\\": $(find "$@" -type f ! -path '*/.*' -exec cat {} + | wc -c | tr -d ' ')}"
`
  const alternatives = product === undefined ? [...folders, sources.join(' ') || '.'] : [product.path]
  return { file: { path, text }, command, measures: `the bytes of ${alternatives.join(', or else ')}` }
}

function renderPlaceChoice(folders: readonly string[]): string {
  if (folders.length === 0) return ''
  return `for built in ${folders.join(' ')}; do
  if [ -e "$built" ]; then set -- "$built"; break; fi
done
`
}

const PLACES: Partial<Readonly<Record<Findings['language'], readonly string[]>>> = {
  rust: ['target/release/deps'],
  java: ['target/classes', 'build/classes'],
}

/** Prints the outputs to judge, and what gates need to catch degenerate ones. */
export function buildItemsHarness(
  name: string,
  { item, buckets, gates, proxy }: JudgedSubject,
): { file: NewFile; command: string } {
  const path = `bench/${name}.mjs`
  const command = `node ${path}`
  const text = `// Prints the outputs to judge as JSON. By hand: ${command}
// ==== PRINT YOUR OUTPUTS HERE ====
// Run your code on fixed inputs. An item is ${item}.
// It has an id that stays the same, a bucket, and the text that a model scores. A sample takes from each bucket:
${buckets.map(({ bucket, count, holds }) => `//   ${bucket}: ${count}, so print at least ${2 * count} (${holds})`).join('\n')}
// ${HARNESS_TODO}: delete this line once these are your outputs; check and run refuse until then.
const items = [
  { id: 'first-input', bucket: '${buckets[0]?.bucket ?? 'usual'}', content: 'what your code answers' },
]
${renderComputed(gates.filter(gate => !ITEM_METRICS.includes(gate.name)))}// =================================
// ${proxy[0]?.toUpperCase()}${proxy.slice(1)}: numbers are for gates and diagnostics.

const contents = items.map(({ content }) => content.trim())
console.log(
  JSON.stringify({
    ...computed,
    answered: contents.filter(content => content !== '').length,
    distinct_share: new Set(contents).size / Math.max(1, contents.length),
    mean_characters: contents.join('').length / Math.max(1, contents.length),
    items,
  }),
)
`
  return { file: { path, text }, command }
}

const ITEM_METRICS = ['answered', 'distinct_share']

function renderComputed(gates: readonly DraftedGate[]): string {
  const lines = gates.map(({ name, description }) => `  ${name}: null, // ${description}\n`)
  const object = lines.length === 0 ? '{}' : `{\n${lines.join('')}}`
  return `// Add numbers that gates read. null fails a gate.\nconst computed = ${object}\n`
}

function renderHeadComment(sign: string, command: string): string {
  return `${sign} Measures one call and prints it as JSON. By hand: ${command}`
}

function describeEntry(entry: EntryPoint | null): string {
  if (entry === null)
    return 'a placeholder: winnow found nothing in the project that it can call without arguments'
  switch (entry.kind) {
    case 'module':
      return `how long it takes to load ${entry.path}`
    case 'function':
      return `${entry.name}() of ${entry.module}`
    case 'program':
      return `the program, started as: ${entry.command}`
    default:
      return entry satisfies never
  }
}

/** Removes the line that makes `check` and `run` refuse, for goals about loading or starting the code. */
export function removeTodoLine(text: string): string {
  return text
    .split('\n')
    .filter(line => !line.includes(HARNESS_TODO))
    .join('\n')
}
