import type { Document, YAMLError } from 'yaml'

type SyntaxProblem = { offset: number; found: string; expected: string; fix: string }

/** One broken place breaks much after it; more than this only hides the first. */
const SYNTAX_PROBLEMS_SHOWN = 5

/** In YAML `>` opens a block text and `!` a tag, so an unquoted gate check is the commonest slip. */
const UNQUOTED_CHECK = /\bcheck:\s*[>!<=]/

function getLine(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', Math.max(offset - 1, 0)) + 1
  const end = text.indexOf('\n', offset)
  return text.slice(start, end === -1 ? undefined : end)
}

function describeYamlError(error: YAMLError, text: string): SyntaxProblem {
  const offset = error.pos[0]
  if (error.code === 'DUPLICATE_KEY') {
    return {
      offset,
      found: 'a key that is already there',
      expected: 'each key once',
      fix: 'remove one of the two',
    }
  }
  if (error.code === 'MULTIPLE_DOCS') {
    return { offset, found: 'a second document', expected: 'one document', fix: 'remove what follows ---' }
  }
  const quote = UNQUOTED_CHECK.test(getLine(text, offset))
  return {
    offset,
    found: `broken YAML (${error.message.split('\n')[0] ?? error.code})`,
    expected: 'YAML 1.2',
    fix: quote ? 'quote the check, as in check: ">= 5"' : 'correct the YAML at this place',
  }
}

/** Warnings count: an unresolved tag means that the value is not what it looks like. */
export function findSyntaxProblems(document: Document, text: string): SyntaxProblem[] {
  const problems = [...document.errors, ...document.warnings].map(error => describeYamlError(error, text))
  const firstOfEach = problems.filter(
    (one, index) => problems.findIndex(other => isSameProblem(one, other)) === index,
  )
  return firstOfEach.slice(0, SYNTAX_PROBLEMS_SHOWN)
}

function isSameProblem(one: SyntaxProblem, other: SyntaxProblem): boolean {
  return one.offset === other.offset && one.found === other.found
}
