import { UserError } from '../errors.ts'
import type { RemoteTip } from '../git/fetch.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Oid, Point } from '../model/ids.ts'
import { toShortRef } from '../model/refs.ts'
import type { LoadedCampaign } from '../ledger/load.ts'
import type { CampaignContext } from './place.ts'
import { tryFetchCommit } from './ordered-trees.ts'
import { Transaction } from './transaction.ts'

type BranchSource = Pick<CampaignContext, 'repository' | 'local'>
type RecordedDefaultBranch = Pick<Campaign, 'default_branch' | 'default_tip'>

export interface DefaultBranch {
  ref: string
  tip: Point
}

/**
 * The branch recorded at the start, whatever is checked out now; where the remote has it no more, the one that it calls
 * its default branch instead, if that continues what was merged in last.
 */
export async function findDefaultBranch(
  site: BranchSource,
  refs: ReadonlyMap<string, Oid>,
  campaign: RecordedDefaultBranch,
): Promise<DefaultBranch> {
  const { default_branch: ref } = campaign
  const oid = refs.get(ref) ?? (await site.repository.remoteRefs([ref])).refs.get(ref)
  if (oid !== undefined) return readBranchPoint(site, { ref, oid })
  const renamed = await findRenamedBranch(site, campaign)
  if (renamed !== null) return renamed
  throw new UserError(describeGoneBranch(site, campaign), {
    fix: `push it again under that name, or start fresh on the branch that replaced it: winnow run --fresh`,
  })
}

function describeGoneBranch(
  { local }: Pick<BranchSource, 'local'>,
  { default_branch }: RecordedDefaultBranch,
): string {
  return `the default branch ${toShortRef(default_branch)} is not in ${local ? 'this repository' : 'the remote'}`
}

async function readBranchPoint(
  { repository }: BranchSource,
  { ref, oid }: RemoteTip,
): Promise<DefaultBranch> {
  if (!(await repository.has(oid))) await repository.fetch([{ ref, oid }])
  return { ref, tip: { commit: oid, tree: (await repository.commit(oid)).tree } }
}

/** Without a remote HEAD is what somebody is on: that names no default branch. */
async function findRenamedBranch(
  site: BranchSource,
  { default_branch, default_tip }: RecordedDefaultBranch,
): Promise<DefaultBranch | null> {
  if (site.local) return null
  const { repository } = site
  const { head } = await repository.remoteRefs([])
  if (head === null || head === default_branch) return null
  const oid = (await repository.remoteRefs([head])).refs.get(head)
  if (oid === undefined) return null
  const found = await readBranchPoint(site, { ref: head, oid })
  const here = await tryFetchCommit(repository, default_tip)
  return here && (await repository.isAncestor(default_tip, oid)) ? found : null
}

/** The ledger has the new name before anything is planned by it; false where nothing was renamed. */
export async function recordRename(
  place: CampaignContext,
  {
    loaded,
    refs,
    defaultBranch: to,
  }: { loaded: LoadedCampaign; refs: ReadonlyMap<string, Oid>; defaultBranch: string },
): Promise<boolean> {
  const { default_branch: from, spec_sha256, spec_yaml, harness } = loaded.campaign
  if (from === to) return false
  const transaction = new Transaction(place, { loaded, refs })
  const reason = `${toShortRef(from)} is called ${toShortRef(to)} now`
  transaction.addEvent({
    kind: 'campaign-amended',
    cause: `renamed ${from} to ${to} at ${loaded.campaign.seq}`,
    spec_sha256,
    spec_yaml,
    harness,
    source: 'person',
    reason,
    default_branch: to,
  })
  const result = await transaction.push()
  if (result.ok || result.reason === 'lease') return true
  throw new UserError(
    `${reason}, and the ledger could not be told: ${'message' in result ? result.message : result.ref}`,
  )
}
