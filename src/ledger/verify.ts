import { LedgerError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { GitRunner, GitTask } from '../git/runner.ts'
import { hashSha256 } from '../model/canonical-json.ts'
import type { Oid } from '../model/ids.ts'
import { buildEventPath, type ChainHead, checkEventFile } from './event-file.ts'
import { listEvents, readEventFiles } from './read-events.ts'

export interface LedgerProblem {
  seq: number | null
  file: string | null
  commit: Oid | null
  message: string
}

/** Invariant 2, append-only, checked in git alone: the chain itself, and every commit that wrote it. */
export async function verifyLedger(
  repo: Repository,
  history: readonly HistoryStep[],
  tipCommit: Oid,
): Promise<LedgerProblem[]> {
  const { tree } = await repo.commit(tipCommit)
  return [...(await findChainProblems(repo, tree)), ...findHistoryProblems(history)]
}

/** Newest first. */
export function readLedgerHistory(git: GitRunner, tipCommit: Oid): Promise<HistoryStep[]> {
  return git.run(buildHistoryTask(tipCommit))
}

async function findChainProblems(repo: Repository, tree: Oid): Promise<LedgerProblem[]> {
  const { files, unknownPaths } = await listEvents(repo, tree, 0)
  const problems = unknownPaths.map(file => createProblem({ file, message: `${file} is not an event file` }))
  if (files.length === 0) problems.push(createProblem({ message: 'the ledger holds no events' }))
  const expected: ChainHead = { seq: 0, head: null }
  const seqById = new Map<string, number>()
  for await (const { file, bytes } of readEventFiles(repo, files)) {
    if (expected.seq < file.seq) problems.push(createMissingProblem(expected.seq, file.seq - 1))
    expected.seq = file.seq
    problems.push(...findFileProblems(bytes, expected, seqById))
    expected.seq += 1
    expected.head = hashSha256(bytes)
  }
  return problems
}

/** Events refer to each other by id, so two events must not share one. */
function findFileProblems(
  bytes: Uint8Array,
  expected: ChainHead,
  seqById: Map<string, number>,
): LedgerProblem[] {
  const { seq } = expected
  try {
    const { id, kind } = checkEventFile(bytes, expected).event
    const earlier = seqById.get(id)
    seqById.set(id, seq)
    if (earlier === undefined) return []
    const message = `event ${seq} (${kind}) has the id of event ${earlier}: ${id}`
    return [createProblem({ seq, file: buildEventPath(seq).path, message })]
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    return [createProblem({ seq, file: buildEventPath(seq).path, message: error.message })]
  }
}

function createMissingProblem(from: number, to: number): LedgerProblem {
  const which = from === to ? `event ${from} is missing` : `events ${from} to ${to} are missing`
  const file = buildEventPath(from).path
  return createProblem({ seq: from, file, message: `${which}: there is no ${file}` })
}

function findHistoryProblems(steps: readonly HistoryStep[]): LedgerProblem[] {
  const problems: LedgerProblem[] = []
  const merges = new Set<Oid>()
  let roots = 0
  for (const { commit, parents, changes } of steps) {
    if (parents.length === 0) roots += 1
    if (parents.length > 1) merges.add(commit)
    for (const { status, path } of changes) {
      if (status === 'A') continue
      const done = status === 'D' ? 'removed' : 'changed'
      problems.push(createProblem({ commit, file: path, message: `commit ${commit} ${done} ${path}` }))
    }
  }
  for (const commit of merges)
    problems.push(createProblem({ commit, message: `commit ${commit} is a merge` }))
  if (roots > 1) problems.push(createProblem({ message: `the ledger has ${roots} beginnings` }))
  return problems
}

function createProblem(known: Partial<LedgerProblem> & { message: string }): LedgerProblem {
  return { seq: null, file: null, commit: null, ...known }
}

export interface HistoryStep {
  commit: Oid
  parents: Oid[]
  changes: { status: string; path: string }[]
}

/** Lists every commit of the branch, including those without event changes. A merge appears once for each parent. */
function buildHistoryTask(tip: Oid): GitTask<HistoryStep[]> {
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
