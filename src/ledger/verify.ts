import { LedgerError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { GitRunner } from '../git/runner.ts'
import { sha256 } from '../model/canonical.ts'
import type { Oid } from '../model/ids.ts'
import { type ChainHead, checkEventFile } from './event-file.ts'
import { listEvents } from './event-listing.ts'
import { eventHistory, type HistoryStep } from './history.ts'
import { eventPath } from './layout.ts'
import { readFiles } from './read-events.ts'

export interface LedgerProblem {
  seq: number | null
  file: string | null
  commit: Oid | null
  message: string
}

/** Invariant 2, append-only, shown from git alone: the chain as it stands, and every commit that made it. */
export async function verifyLedger(
  repo: Repository,
  git: GitRunner,
  tipCommit: Oid,
): Promise<LedgerProblem[]> {
  const { tree } = await repo.commit(tipCommit)
  const chain = await chainProblems(repo, tree)
  return [...chain, ...historyProblems(await git.run(eventHistory(tipCommit)))]
}

async function chainProblems(repo: Repository, tree: Oid): Promise<LedgerProblem[]> {
  const { files, strangers } = await listEvents(repo, tree, 0)
  const problems = strangers.map(file => problem({ file, message: `${file} is not an event file` }))
  if (files.length === 0) problems.push(problem({ message: 'the ledger holds no events' }))
  const expected: ChainHead = { seq: 0, head: null }
  const seqOfId = new Map<string, number>()
  for await (const { file, bytes } of readFiles(repo, files)) {
    if (expected.seq < file.seq) problems.push(missing(expected.seq, file.seq - 1))
    expected.seq = file.seq
    problems.push(...fileProblems(bytes, expected, seqOfId))
    expected.seq += 1
    expected.head = sha256(bytes)
  }
  return problems
}

/** Events refer to each other by id, so an id that two events share makes them ambiguous. */
function fileProblems(bytes: Uint8Array, expected: ChainHead, seqOfId: Map<string, number>): LedgerProblem[] {
  const { seq } = expected
  try {
    const { id, kind } = checkEventFile(bytes, expected).event
    const earlier = seqOfId.get(id)
    seqOfId.set(id, seq)
    if (earlier === undefined) return []
    const message = `event ${seq} (${kind}) has the id of event ${earlier}: ${id}`
    return [problem({ seq, file: eventPath(seq).path, message })]
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    return [problem({ seq, file: eventPath(seq).path, message: error.message })]
  }
}

function missing(from: number, to: number): LedgerProblem {
  const which = from === to ? `event ${from} is missing` : `events ${from} to ${to} are missing`
  const file = eventPath(from).path
  return problem({ seq: from, file, message: `${which}: there is no ${file}` })
}

function historyProblems(steps: readonly HistoryStep[]): LedgerProblem[] {
  const problems: LedgerProblem[] = []
  const merges = new Set<Oid>()
  let roots = 0
  for (const { commit, parents, changes } of steps) {
    if (parents.length === 0) roots += 1
    if (parents.length > 1) merges.add(commit)
    for (const { status, path } of changes) {
      if (status === 'A') continue
      const done = status === 'D' ? 'removed' : 'changed'
      problems.push(problem({ commit, file: path, message: `commit ${commit} ${done} ${path}` }))
    }
  }
  for (const commit of merges) problems.push(problem({ commit, message: `commit ${commit} is a merge` }))
  if (roots > 1) problems.push(problem({ message: `the ledger has ${roots} beginnings` }))
  return problems
}

function problem(known: Partial<LedgerProblem> & { message: string }): LedgerProblem {
  return { seq: null, file: null, commit: null, ...known }
}
