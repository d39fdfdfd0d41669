import { UserError } from '../errors.ts'
import type { Oid } from './object-format.ts'
import { unquotePath } from './path-bytes.ts'
import type { GitTask } from './runner.ts'

export type MergeResult = { clean: true; tree: Oid } | { clean: false; conflicts: string[] }

export function mergeTree(ours: Oid, theirs: Oid): GitTask<MergeResult> {
  return {
    args: ['merge-tree', '--write-tree', '--name-only', '--no-messages', ours, theirs],
    answers: [1, 128],
    parse({ exitCode, stdout, stderr }) {
      if (exitCode === 128) throw explainMergeFailure(ours, theirs, stderr)
      const [tree = '', ...names] = stdout.split('\n').filter(line => line !== '')
      return exitCode === 0 ? { clean: true, tree } : { clean: false, conflicts: names.map(unquotePath) }
    },
  }
}

function explainMergeFailure(ours: Oid, theirs: Oid, stderr: string): Error {
  if (!stderr.includes('unrelated histories')) {
    return new Error(`git cannot merge ${theirs} into ${ours}: ${stderr.trim()}`)
  }
  return new UserError(`${theirs} and ${ours} have no common history`, {
    fix: 'if the repository is a shallow clone run `git fetch --unshallow` in it; otherwise rebase the branch',
  })
}
