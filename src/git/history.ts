import type { Oid } from './object-format.ts'
import type { GitTask } from './runner.ts'

export interface RevListOptions {
  from: Oid | readonly Oid[]
  not?: Oid | readonly Oid[]
  firstParent?: boolean
  limit?: number
}

export function listRevisions(options: RevListOptions): GitTask<Oid[]> {
  const { from, not = [], firstParent = false, limit } = options
  const args = ['rev-list', '--topo-order']
  if (firstParent) args.push('--first-parent')
  if (limit !== undefined) args.push(`--max-count=${limit}`)
  args.push(...[from].flat(), ...[not].flat().map(oid => `^${oid}`))
  return { args, parse: ({ stdout }) => splitLines(stdout) }
}

export function isAncestor(ancestor: Oid, descendant: Oid): GitTask<boolean> {
  return {
    args: ['rev-list', '--count', '--max-count=1', ancestor, `^${descendant}`],
    parse: ({ stdout }) => stdout.trim() === '0',
  }
}

export function findMergeBase(a: Oid, b: Oid): GitTask<Oid | null> {
  return { args: ['merge-base', a, b], answers: [1], parse: ({ stdout }) => splitLines(stdout)[0] ?? null }
}

function splitLines(stdout: string): string[] {
  return stdout.split('\n').filter(line => line !== '')
}
