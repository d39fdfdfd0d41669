import { listUnlistedPackages } from '../../decide/additions.ts'
import { findFirstChangedLine } from '../../decide/first-change.ts'
import { checkChanges } from '../../decide/scope-check.ts'
import type { DiffEntry } from '../../git/diff-tree.ts'
import type { Repository } from '../../git/repository.ts'
import { formatPackages } from '../../model/approval.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { Oid, Point } from '../../model/ids.ts'
import type { CandidateFacts, CandidateChange } from '../../plan/world.ts'
import { compileScope } from '../../spec/scope.ts'
import type { Spec } from '../../spec/schema.ts'
import { readDependencyFacts, NO_ADDITIONS } from './dependencies.ts'
import { readTouchedLines } from './touched.ts'

type CleanFacts = Extract<CandidateFacts, { merged: 'clean' }>

const RESULTS = '.winnow/results'
const NO_FILE = '000000'

export interface CandidateRequest {
  repository: Repository
  campaign: Campaign
  spec: Spec
  incumbent: Point
  head: Oid
  /** The default branch's tip where it has commits that the incumbent lacks. */
  unsynced: Oid | null
}

/** An experiment's head merged with the incumbent, on objects alone: its tree, its diff, what forbids it. */
export async function readCandidateFacts(question: CandidateRequest): Promise<CandidateFacts> {
  const { repository, incumbent, head, spec } = question
  const merged = await repository.mergeTree(incumbent.commit, head)
  if (!merged.clean) return { merged: 'conflict', head, base: incumbent.commit, paths: merged.conflicts }
  const tree = await addIncumbentResults(repository, incumbent.tree, merged.tree)
  const entries = await repository.diff(incumbent.tree, tree)
  const { changes, refusal, additions } = await readChangeFacts(repository, spec, { tree, entries })
  return {
    merged: 'clean',
    head,
    base: incumbent.commit,
    tree,
    changes,
    touched: await readTouchedLines(repository, entries),
    refusal,
    additions,
    aheadOfSync: await isAheadOfSync(question),
    contains: await findRevertedLanding(question),
  }
}

/** Results files are winnow's own record: in a candidate they are always the incumbent's. */
async function addIncumbentResults(repository: Repository, incumbent: Oid, tree: Oid): Promise<Oid> {
  const ours = await repository.findEntry(incumbent, RESULTS)
  const theirs = await repository.findEntry(tree, RESULTS)
  if (ours?.oid === theirs?.oid) return tree
  const entry = ours === null ? null : { mode: ours.mode, oid: ours.oid }
  return repository.replaceEntries(tree, [{ path: RESULTS, entry }])
}

/** Packages are only looked at in what may change at all: whatever else is in it was refused before. */
async function readChangeFacts(
  repository: Repository,
  spec: Spec,
  change: { tree: Oid; entries: readonly DiffEntry[] },
): Promise<Pick<CleanFacts, 'changes' | 'refusal' | 'additions'>> {
  const changes = await listTreeChanges(repository, change.entries)
  const refusal = findScopeRefusal(changes, spec)
  if (refusal !== null) {
    const line = await findRefusedLine(repository, change.entries, refusal)
    return { changes, refusal: { ...refusal, line }, additions: NO_ADDITIONS }
  }
  return { changes, ...(await readDependencyFacts(repository, spec, change)) }
}

/** Of a tip that somebody else put there: nobody can be asked about its packages, so the spec has to name them. */
export async function findForeignRefusal(
  repository: Repository,
  spec: Spec,
  { from, to }: { from: Oid; to: Oid },
): Promise<CleanFacts['refusal']> {
  const entries = await repository.diff(from, to)
  const { refusal, additions } = await readChangeFacts(repository, spec, { tree: to, entries })
  const { packages } = additions
  const names = listUnlistedPackages(spec.dependencies, packages)
  if (refusal !== null || names.length === 0) return refusal
  const message = `adds ${formatPackages(names, packages)}, which dependencies.approved does not name, or not from there`
  return { code: 'dependencies', message }
}

async function listTreeChanges(
  repository: Repository,
  entries: readonly DiffEntry[],
): Promise<CandidateChange[]> {
  return Promise.all(
    entries.map(async entry => ({
      path: entry.path,
      status: entry.status,
      oldMode: entry.oldMode ?? NO_FILE,
      newMode: entry.newMode ?? NO_FILE,
      added: entry.added,
      deleted: entry.deleted,
      bytes: await readBinarySize(repository, entry),
    })),
  )
}

/** Where to look in the file that it is about: at the first line that changed, where lines are what changed. */
async function findRefusedLine(
  repository: Repository,
  entries: readonly DiffEntry[],
  { code, path }: NonNullable<CleanFacts['refusal']>,
): Promise<number> {
  const entry = entries.find(each => each.path === path)
  if (entry === undefined || entry.added === null || !OF_LINES.has(code)) return 1
  if (entry.oldMode === SUBMODULE || entry.newMode === SUBMODULE) return 1
  const textOf = async (oid: Oid | null) =>
    oid === null ? null : (await repository.blob(oid)).toString('utf8')
  return findFirstChangedLine(await textOf(entry.oldOid), await textOf(entry.newOid))
}

const SUBMODULE = '160000'
const OF_LINES: ReadonlySet<string> = new Set([
  'out-of-scope',
  'file-type',
  'too-many-files',
  'too-many-lines',
])

async function readBinarySize(repository: Repository, entry: DiffEntry): Promise<number | null> {
  if (entry.added !== null || entry.newOid === null || entry.newMode === SUBMODULE) return null
  return (await repository.blob(entry.newOid)).length
}

function findScopeRefusal(changes: readonly CandidateChange[], spec: Spec): CleanFacts['refusal'] {
  const binaryBytes = new Map(
    changes.flatMap(({ path, bytes }) => (bytes === null ? [] : [[path, bytes] as const])),
  )
  const { isMutable } = compileScope(spec)
  const refusal = checkChanges({ changes, isMutable, limits: spec.limits, binaryBytes })
  return refusal && { code: refusal.code, message: refusal.message, path: refusal.path }
}

async function isAheadOfSync({ repository, incumbent, head, unsynced }: CandidateRequest): Promise<boolean> {
  if (unsynced === null) return false
  const shared = await repository.mergeBase(head, unsynced)
  return shared !== null && !(await repository.isAncestor(shared, incumbent.commit))
}

/** A head that has a reverted landing in its history but not the revert would merge to nothing, silently. */
async function findRevertedLanding({ repository, campaign, head }: CandidateRequest): Promise<string | null> {
  for (const landing of campaign.landings) {
    if (landing.reverted === null || !(await repository.isAncestor(landing.head, head))) continue
    if (!(await repository.isAncestor(landing.reverted, head))) return landing.experiment
  }
  return null
}
