import { HARNESS_TODO } from '../../spec/stand-in.ts'
import type { EntryPoint } from '../findings.ts'

/** The lines around a workload, the same in every language but for the sign of a comment. */
export function renderWorkloadComment(sign: string, example: string, entry: EntryPoint | null): string {
  return [
    '==== PUT YOUR WORKLOAD HERE ====',
    'Call what should become better, with input as large as in real use, and return what it answers:',
    `  ${example}`,
    `Until then this measures ${describeEntry(entry)}.`,
    `${HARNESS_TODO}: delete this line once it is your workload; check and run refuse until then.`,
  ]
    .map(line => `${sign} ${line}`)
    .join('\n')
}

export function renderHeadComment(sign: string, command: string): string {
  return `${sign} Measures one call and prints it as JSON. By hand: ${command}`
}

/** What a harness calls before anybody has said what to measure. */
export function describeEntry(entry: EntryPoint | null): string {
  if (entry === null)
    return 'a stand-in: nothing of the project was found that can be called without arguments'
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

/** Without the line that makes `check` and `run` refuse: where loading or starting the code is what is wanted. */
export function removeStandInLine(text: string): string {
  return text
    .split('\n')
    .filter(line => !line.includes(HARNESS_TODO))
    .join('\n')
}
