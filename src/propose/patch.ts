import type { Repository } from '../git/repository.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Oid, Point } from '../model/ids.ts'
import type { Proposal } from '../plan/world.ts'
import { diffReadings } from './diff-readings.ts'
import type { PatchFile } from './patch-file.ts'
import { rejectionReason } from './patch-rejection.ts'

type Head = Proposal['head']
type PatchRepository = Pick<Repository, 'applyPatch' | 'commit' | 'mergeTree' | 'writeCommit'>

/** What was prepared before, held by the caller: a patch is applied once to an incumbent. */
export type PreparedPatches = Map<string, Head>

export interface PatchProposing {
  repo: PatchRepository
  files: readonly PatchFile[]
  incumbent: Point
  /** What the patches were written for, the tip of the default branch. */
  fallbackBase?: Point
  campaign: Pick<Campaign, 'sources'>
  limit: number
  prepared: PreparedPatches
}

/** Patches that are not experiments yet, each as one commit on the incumbent or with the reason why not. */
export async function proposePatches(proposing: PatchProposing): Promise<Proposal[]> {
  const { campaign, files, limit } = proposing
  const untried = files.filter(({ key }) => !Object.hasOwn(campaign.sources, key))
  const proposals: Proposal[] = []
  for (const file of untried.slice(0, limit)) {
    const source = { use: 'patch', key: file.key }
    const head = await prepare(proposing, file)
    const simplifies = file.simplifies ? { simplifies: true as const } : {}
    proposals.push({ ...file.idea, ...simplifies, source, learnings: null, head, branch: null, pull: null })
  }
  return proposals
}

async function prepare(proposing: PatchProposing, file: PatchFile): Promise<Head> {
  const { prepared, incumbent, fallbackBase } = proposing
  const id = [incumbent.commit, fallbackBase?.commit ?? '', file.key].join(' ')
  const known = prepared.get(id)
  if (known) return known
  for (const other of prepared.keys()) if (!other.startsWith(incumbent.commit)) prepared.delete(other)
  const head = await headOf(proposing, file)
  prepared.set(id, head)
  return head
}

async function headOf(proposing: PatchProposing, file: PatchFile): Promise<Head> {
  const { repo, incumbent } = proposing
  if ('problem' in file.content) return { rejected: file.content.problem }
  const changed = await changedTree(proposing, file.path, file.content)
  if ('rejected' in changed) return changed
  const message = `${file.idea.hypothesis}\n\nWinnow-Source: ${file.key}`
  const commit = await commitOn(repo, incumbent, changed.tree, message)
  return { commit, base: incumbent }
}

type Changed = { tree: Oid } | { rejected: string }

async function changedTree(
  proposing: PatchProposing,
  path: string,
  { diff, linesBefore }: { diff: string; linesBefore: number },
): Promise<Changed> {
  const { repo, incumbent, fallbackBase } = proposing
  const readings = diffReadings(diff)
  if (readings === null) {
    // A patch that changes nothing is refused with the others that do, by policy.
    return diff.trim() === ''
      ? { tree: incumbent.tree }
      : { rejected: `${path} has no diff after its front matter` }
  }
  const here = await applied(repo, incumbent.tree, readings)
  if ('tree' in here) return here
  const rejected = `${path} does not apply to the incumbent: ${rejectionReason(here.rejected, linesBefore)}`
  if (!fallbackBase || fallbackBase.tree === incumbent.tree) return { rejected }
  const there = await applied(repo, fallbackBase.tree, readings)
  return 'tree' in there ? merged(proposing, path, fallbackBase, there.tree) : { rejected }
}

async function applied(repo: PatchRepository, tree: Oid, readings: readonly string[]): Promise<Changed> {
  let first: Changed | null = null
  for (const reading of readings) {
    const result = await repo.applyPatch(tree, reading)
    if ('tree' in result) return result
    first ??= result
  }
  return first ?? { rejected: 'there is no diff' }
}

/** It applied where it was written: git carries it over to the incumbent, or names what is in the way. */
async function merged(
  { repo, incumbent }: PatchProposing,
  path: string,
  base: Point,
  tree: Oid,
): Promise<Changed> {
  const written = await commitOn(repo, base, tree, `Applied: ${path}`)
  const result = await repo.mergeTree(incumbent.commit, written)
  if (result.clean) return { tree: result.tree }
  return { rejected: `${path} conflicts with the incumbent in ${result.conflicts.slice(0, 5).join(', ')}` }
}

/** Dated like its parent: the same patch on the same incumbent is the same commit, wherever it is made. */
export async function commitOn(
  repo: Pick<PatchRepository, 'commit' | 'writeCommit'>,
  parent: Point,
  tree: Oid,
  message: string,
): Promise<Oid> {
  const { committer } = await repo.commit(parent.commit)
  return repo.writeCommit({ tree, parents: [parent.commit], message, date: committer.date })
}
