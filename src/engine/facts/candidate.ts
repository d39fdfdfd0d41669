import { checkChanges } from '../../decide/scope-check.ts'
import type { DiffEntry } from '../../git/diff-tree.ts'
import type { Repository } from '../../git/repository.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { Oid, Point } from '../../model/ids.ts'
import type { CandidateFacts, Change } from '../../plan/world.ts'
import { compileScope } from '../../spec/scope.ts'
import type { Spec } from '../../spec/schema.ts'
import { touchedIn } from './touched.ts'

const RESULTS = '.winnow/results'
const NO_FILE = '000000'

export interface CandidateQuestion {
  repository: Repository
  campaign: Campaign
  spec: Spec
  incumbent: Point
  head: Oid
  /** The default branch's tip where it has commits that the incumbent lacks. */
  unsynced: Oid | null
}

/** An experiment's head merged with the incumbent, on objects alone: its tree, its diff, what forbids it. */
export async function candidateFacts(question: CandidateQuestion): Promise<CandidateFacts> {
  const { repository, incumbent, head, spec } = question
  const merged = await repository.mergeTree(incumbent.commit, head)
  if (!merged.clean) return { merged: 'conflict', head, base: incumbent.commit, paths: merged.conflicts }
  const tree = await withIncumbentResults(repository, incumbent.tree, merged.tree)
  const entries = await repository.diff(incumbent.tree, tree)
  const changes = await changesOf(repository, entries)
  return {
    merged: 'clean',
    head,
    base: incumbent.commit,
    tree,
    changes,
    touched: await touchedIn(repository, entries),
    refusal: refusalOf(changes, spec),
    aheadOfSync: await isAheadOfSync(question),
    contains: await containedLanding(question),
  }
}

/** Results files are winnow's own record: in a candidate they are always the incumbent's. */
async function withIncumbentResults(repository: Repository, incumbent: Oid, tree: Oid): Promise<Oid> {
  const ours = await repository.entryAt(incumbent, RESULTS)
  const theirs = await repository.entryAt(tree, RESULTS)
  if (ours?.oid === theirs?.oid) return tree
  const entry = ours === null ? null : { mode: ours.mode, oid: ours.oid }
  return repository.replaceAt(tree, [{ path: RESULTS, entry }])
}

export async function changesBetween(repository: Repository, from: Oid, to: Oid): Promise<Change[]> {
  return changesOf(repository, await repository.diff(from, to))
}

async function changesOf(repository: Repository, entries: readonly DiffEntry[]): Promise<Change[]> {
  return Promise.all(
    entries.map(async entry => ({
      path: entry.path,
      status: entry.status,
      oldMode: entry.oldMode ?? NO_FILE,
      newMode: entry.newMode ?? NO_FILE,
      added: entry.added,
      deleted: entry.deleted,
      bytes: await binarySize(repository, entry),
    })),
  )
}

async function binarySize(repository: Repository, entry: DiffEntry): Promise<number | null> {
  if (entry.added !== null || entry.newOid === null || entry.newMode === '160000') return null
  return (await repository.blob(entry.newOid)).length
}

export function refusalOf(changes: readonly Change[], spec: Spec): { code: string; message: string } | null {
  const binaryBytes = new Map(
    changes.flatMap(({ path, bytes }) => (bytes === null ? [] : [[path, bytes] as const])),
  )
  const { isMutable } = compileScope(spec)
  const refusal = checkChanges({ changes, isMutable, limits: spec.limits, binaryBytes })
  return refusal && { code: refusal.code, message: refusal.message }
}

async function isAheadOfSync({ repository, incumbent, head, unsynced }: CandidateQuestion): Promise<boolean> {
  if (unsynced === null) return false
  const shared = await repository.mergeBase(head, unsynced)
  return shared !== null && !(await repository.isAncestor(shared, incumbent.commit))
}

/** A head that has a reverted landing in its history but not the revert would merge to nothing, silently. */
async function containedLanding({ repository, campaign, head }: CandidateQuestion): Promise<string | null> {
  for (const landing of campaign.landings) {
    if (landing.reverted === null || !(await repository.isAncestor(landing.head, head))) continue
    if (!(await repository.isAncestor(landing.reverted, head))) return landing.experiment
  }
  return null
}
