import type { Repository } from '../git/repository.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Oid, Point } from '../model/ids.ts'
import { sortIdeas } from '../plan/intake.ts'
import type { Proposal } from '../plan/world.ts'
import { listDiffReadings } from './diff-readings.ts'
import type { PatchFile } from './patch-file.ts'
import { readRejection } from './patch-rejection.ts'
import type { PatchDiff } from './patch-text.ts'

type PatchHead = Proposal['head']
type PatchRepository = Pick<Repository, 'applyPatch' | 'commit' | 'mergeTree' | 'writeCommit'>

/** What was prepared before, held by the caller: a patch is applied once to an incumbent. */
export type PreparedPatches = Map<string, PreparedPatch>

interface PreparedPatch {
  head: PatchHead
  learnings: string | null
}

export interface PatchProposing {
  repo: PatchRepository
  files: readonly PatchFile[]
  incumbent: Point
  /** What the patches were written for, the tip of the default branch. */
  fallbackBase?: Point
  campaign: Pick<Campaign, 'sources' | 'experiments'>
  limit: number
  prepared: PreparedPatches
}

/** Patches that are not experiments yet, each as one commit on the incumbent or with the reason why not. */
export async function proposePatches(proposing: PatchProposing): Promise<Proposal[]> {
  const { limit } = proposing
  const proposals: Proposal[] = []
  for (const file of listUntriedPatches(proposing).slice(0, limit)) {
    const source = { use: 'patch', key: file.key }
    const prepared = await preparePatch(proposing, file)
    const simplifies = file.simplifies ? { simplifies: true as const } : {}
    proposals.push({ ...file.idea, ...simplifies, source, ...prepared, branch: null, pull: null })
  }
  return proposals
}

/** In the order in which they are opened: the names of the files decide last. */
export function listUntriedPatches({
  campaign,
  files,
}: Pick<PatchProposing, 'campaign' | 'files'>): PatchFile[] {
  const untried = files.filter(({ key }) => !Object.hasOwn(campaign.sources, key))
  const ordered = sortIdeas(
    campaign,
    untried.map(file => ({ ...file.idea, file })),
  )
  return ordered.map(({ file }) => file)
}

async function preparePatch(proposing: PatchProposing, file: PatchFile): Promise<PreparedPatch> {
  const { prepared, incumbent, fallbackBase } = proposing
  const id = [incumbent.commit, fallbackBase?.commit ?? '', file.key].join(' ')
  const known = prepared.get(id)
  if (known) return known
  for (const other of prepared.keys()) if (!other.startsWith(incumbent.commit)) prepared.delete(other)
  const made = await buildPatchHead(proposing, file)
  prepared.set(id, made)
  return made
}

async function buildPatchHead(proposing: PatchProposing, file: PatchFile): Promise<PreparedPatch> {
  const { repo, incumbent } = proposing
  const changed = await applyPatchFile(proposing, file)
  if ('rejected' in changed) return { head: changed, learnings: null }
  const message = `${file.idea.hypothesis}\n\nWinnow-Source: ${file.key}`
  const commit = await commitPatchedTree(repo, incumbent, changed.tree, message)
  const learnings = changed.withEarlier === true ? WITH_EARLIER : null
  return { head: { commit, base: incumbent }, learnings }
}

const WITH_EARLIER =
  'It does not apply without the earlier patches of its series, and was measured together with them.'

type PatchedTree = { tree: Oid; withEarlier?: true } | { rejected: string }

interface PatchTarget extends Pick<PatchProposing, 'incumbent' | 'fallbackBase'> {
  repo: PatchRepository
  /** How the incumbent is called where it is not one yet. */
  named?: string
}

/** The tree that a patch makes of the incumbent, or why there is none; of a series, with its earlier patches. */
export async function applyPatchFile(
  applying: PatchTarget,
  { path, content }: Pick<PatchFile, 'path' | 'content'>,
): Promise<PatchedTree> {
  if ('problem' in content) return { rejected: content.problem }
  const { diffs, earlier } = content
  const alone = await applyToIncumbent(applying, path, diffs)
  if ('tree' in alone || earlier.length === 0) return alone
  const after = await applyToIncumbent(applying, path, [...earlier, ...diffs])
  return 'tree' in after ? { ...after, withEarlier: true } : alone
}

async function applyToIncumbent(
  { repo, incumbent, fallbackBase, named = 'the incumbent' }: PatchTarget,
  path: string,
  diffs: readonly PatchDiff[],
): Promise<PatchedTree> {
  const here = await applyDiffs(repo, incumbent.tree, { path, diffs, named })
  if ('tree' in here) return here
  if (!fallbackBase || fallbackBase.tree === incumbent.tree) return here
  const there = await applyDiffs(repo, fallbackBase.tree, { path, diffs, named })
  return 'tree' in there
    ? mergeIntoIncumbent(repo, path, { incumbent, base: fallbackBase, tree: there.tree })
    : here
}

/** Each diff on what the one before it left. */
async function applyDiffs(
  repo: PatchRepository,
  from: Oid,
  { path, diffs, named }: { path: string; diffs: readonly PatchDiff[]; named: string },
): Promise<PatchedTree> {
  let tree = from
  for (const { diff, linesBefore } of diffs) {
    const readings = listDiffReadings(diff)
    // A patch that changes nothing is refused with the others that do, by policy.
    if (readings === null && diff.trim() === '') continue
    if (readings === null) return { rejected: `${path}:${linesBefore + 1}: there is no diff in it` }
    const result = await applyFirstReading(repo, tree, readings)
    if ('rejected' in result) {
      const { why, line } = readRejection(result.rejected, diff)
      const place = line === null ? path : `${path}:${line + linesBefore}`
      return { rejected: `${place} does not apply to ${named}: ${why}` }
    }
    tree = result.tree
  }
  return { tree }
}

async function applyFirstReading(
  repo: PatchRepository,
  tree: Oid,
  readings: readonly string[],
): Promise<PatchedTree> {
  let first: PatchedTree | null = null
  for (const reading of readings) {
    const result = await repo.applyPatch(tree, reading)
    if ('tree' in result) return result
    first ??= result
  }
  return first ?? { rejected: 'there is no diff' }
}

interface PatchMerge {
  incumbent: Point
  base: Point
  /** The tree with the patch applied. */
  tree: Oid
}

/** It applied where it was written: git carries it over to the incumbent, or names what is in the way. */
async function mergeIntoIncumbent(
  repo: PatchRepository,
  path: string,
  { incumbent, base, tree }: PatchMerge,
): Promise<PatchedTree> {
  const written = await commitPatchedTree(repo, base, tree, `Applied: ${path}`)
  const result = await repo.mergeTree(incumbent.commit, written)
  if (result.clean) return { tree: result.tree }
  return { rejected: `${path} conflicts with the incumbent in ${result.conflicts.slice(0, 5).join(', ')}` }
}

/** Dated like its parent: the same patch on the same incumbent is the same commit, wherever it is made. */
export async function commitPatchedTree(
  repo: Pick<PatchRepository, 'commit' | 'writeCommit'>,
  parent: Point,
  tree: Oid,
  message: string,
): Promise<Oid> {
  const { committer } = await repo.commit(parent.commit)
  return repo.writeCommit({ tree, parents: [parent.commit], message, date: committer.date })
}
