import type { GitTask } from '../git/runner.ts'
import type { Oid } from '../model/ids.ts'

/** What one commit of the ledger did to event files, seen from one of its parents. */
export interface HistoryStep {
  commit: Oid
  parents: Oid[]
  changes: { status: string; path: string }[]
}

/** Every commit of the branch, also those that leave events alone; merges once for each parent. */
export function buildHistoryTask(tip: Oid): GitTask<HistoryStep[]> {
  const walk = ['--full-history', '--sparse', '-m', '--no-renames', '--name-status', '-z']
  return {
    args: ['log', ...walk, '--format=%x01%H %P', tip, '--', 'events'],
    parse: ({ stdout }) => parseHistory(stdout),
  }
}

function parseHistory(stdout: string): HistoryStep[] {
  const steps: HistoryStep[] = []
  const tokens = stdout.split('\0').values()
  for (const token of tokens) {
    if (token.startsWith('\u0001')) {
      const [commit = '', ...parents] = token.slice(1).split(' ').filter(Boolean)
      steps.push({ commit, parents, changes: [] })
      continue
    }
    const status = token.trim()
    if (status !== '') steps.at(-1)?.changes.push({ status, path: tokens.next().value ?? '' })
  }
  return steps
}
