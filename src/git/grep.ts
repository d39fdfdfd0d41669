import type { Oid } from './object-format.ts'
import { unquotePath } from './path-bytes.ts'
import type { GitTask } from './runner.ts'

/** Paths of text files in a tree that match one of the extended regular expressions. */
export function searchTree(tree: Oid, patterns: readonly string[]): GitTask<string[]> {
  const expressions = patterns.flatMap(pattern => ['-e', pattern])
  return {
    args: ['grep', '-I', '-l', '-E', '--full-name', ...expressions, tree],
    answers: [1],
    parse: ({ stdout }) => {
      const lines = stdout.split('\n').filter(line => line !== '')
      return lines.map(line => unquotePath(line)).map(line => line.slice(line.indexOf(':') + 1))
    },
  }
}
