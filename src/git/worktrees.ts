import { unquotePath } from './path-bytes.ts'
import type { GitTask } from './runner.ts'

export interface Worktree {
  path: string
  /** full ref name; null when detached or bare */
  branch: string | null
}

/** Of the user's repository, which is only read. */
export function listWorktrees(repository: string): GitTask<Worktree[]> {
  return {
    args: ['-C', repository, 'worktree', 'list', '--porcelain', '-z'],
    parse: ({ stdout }) => stdout.split('\0\0').flatMap(parseWorktree),
  }
}

function parseWorktree(block: string): Worktree[] {
  const fields = new Map(block.split('\0').map(line => [line.split(' ', 1)[0] ?? '', line]))
  const path = fields.get('worktree')?.slice('worktree '.length)
  if (path === undefined || fields.has('bare')) return []
  return [{ path: unquotePath(path), branch: fields.get('branch')?.slice('branch '.length) ?? null }]
}
