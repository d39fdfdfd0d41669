import { UserError } from '../errors.ts'

/** One thing wrong with a spec: where, what was found, what is expected, what to do. */
export type Problem = {
  file: string
  line: number
  column: number
  path: string
  found: string
  expected: string
  didYouMean?: string
  fix: string
}

/** A problem before anyone has looked up its line. */
export type SpecFinding = Omit<Problem, 'file' | 'line' | 'column' | 'path'> & {
  path: SpecPath
  at?: 'key' | 'value'
}

export type SpecPath = readonly (string | number)[]

export const UNKNOWN_KEY = 'unknown key'

export function formatPath(path: SpecPath): string {
  let written = ''
  for (const part of path) {
    if (typeof part === 'number') written += `[${part}]`
    else written += written === '' ? part : `.${part}`
  }
  return written
}

function summarizeProblem(problem: Problem): string {
  if (problem.found === UNKNOWN_KEY) return `${problem.found}; ${problem.fix}`
  const saysAll = problem.fix === writeInstead(problem.expected)
  const found = `found ${problem.found}, expected ${problem.expected}`
  return saysAll ? found : `${found}; ${problem.fix}`
}

/** The fix when naming what is expected says everything; a line then does not repeat it. */
export function writeInstead(expected: string): string {
  return `write ${expected}`
}

/** One line, whatever the file holds: keys and values may carry line ends and terminal escapes. */
export function formatProblem(problem: Problem): string {
  const where = `${problem.file}:${problem.line}:${problem.column}`
  const line = [where, problem.path, summarizeProblem(problem)].filter(part => part !== '').join('  ')
  return line.replaceAll(/\p{Cc}+/gu, ' ')
}

/** Every problem of a spec at once, one line each. */
export class SpecErrors extends UserError {
  readonly problems: readonly Problem[]
  /** What is true of the whole file, and may be the reason for all of them. */
  readonly note: string | null
  constructor(problems: readonly Problem[], cause?: unknown, note: string | null = null) {
    const [first] = problems
    const place =
      first === undefined
        ? {}
        : { file: first.file, line: first.line, column: first.column, path: first.path }
    super(problems.map(formatProblem).join('\n'), {
      place,
      ...(first === undefined ? {} : { fix: first.fix }),
      ...(cause === undefined ? {} : { cause }),
    })
    this.problems = problems
    this.note = note
  }
}

const MAX_FOUND = 60

export function describeFoundValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(truncateValue(value))
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  return typeof value === 'object' && value !== null ? 'a mapping' : 'nothing'
}

function truncateValue(value: string): string {
  return value.length > MAX_FOUND ? `${value.slice(0, MAX_FOUND)}…` : value
}
