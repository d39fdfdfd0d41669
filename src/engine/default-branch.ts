import { UserError } from '../errors.ts'
import type { RemoteTip } from '../git/fetch.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Oid, Point } from '../model/ids.ts'
import { shortRef } from '../model/refs.ts'
import type { LoadedCampaign } from '../ledger/load.ts'
import type { Place } from './place.ts'
import { bringLeft } from './ordered-trees.ts'
import { Transaction } from './transaction.ts'

type Site = Pick<Place, 'repository' | 'local'>
type Known = Pick<Campaign, 'default_branch' | 'default_tip'>

export interface DefaultBranch {
  ref: string
  tip: Point
}

/**
 * The branch recorded at the start, whatever is checked out now; where the remote has it no more, the one that it calls
 * its default branch instead, if that continues what was merged in last.
 */
export async function defaultBranchOf(
  site: Site,
  refs: ReadonlyMap<string, Oid>,
  campaign: Known,
): Promise<DefaultBranch> {
  const { default_branch: ref } = campaign
  const oid = refs.get(ref) ?? (await site.repository.remoteRefs([ref])).refs.get(ref)
  if (oid !== undefined) return pointAt(site, { ref, oid })
  const renamed = await renamedTo(site, campaign)
  if (renamed !== null) return renamed
  throw new UserError(goneText(site, campaign), {
    fix: `push it again under that name, or start fresh on the branch that replaced it: winnow run --fresh`,
  })
}

function goneText({ local }: Pick<Site, 'local'>, { default_branch }: Known): string {
  return `the default branch ${shortRef(default_branch)} is not in ${local ? 'this repository' : 'the remote'}`
}

async function pointAt({ repository }: Site, { ref, oid }: RemoteTip): Promise<DefaultBranch> {
  if (!(await repository.has(oid))) await repository.fetch([{ ref, oid }])
  return { ref, tip: { commit: oid, tree: (await repository.commit(oid)).tree } }
}

/** Without a remote HEAD is what somebody is on: that names no default branch. */
async function renamedTo(site: Site, { default_branch, default_tip }: Known): Promise<DefaultBranch | null> {
  if (site.local) return null
  const { repository } = site
  const { head } = await repository.remoteRefs([])
  if (head === null || head === default_branch) return null
  const oid = (await repository.remoteRefs([head])).refs.get(head)
  if (oid === undefined) return null
  const found = await pointAt(site, { ref: head, oid })
  const here = await bringLeft(repository, default_tip)
  return here && (await repository.isAncestor(default_tip, oid)) ? found : null
}

/** The ledger has the new name before anything is planned by it; false where nothing was renamed. */
export async function recordRename(
  place: Place,
  {
    loaded,
    refs,
    defaultBranch: to,
  }: { loaded: LoadedCampaign; refs: ReadonlyMap<string, Oid>; defaultBranch: string },
): Promise<boolean> {
  const { default_branch: from, spec_sha256, spec_yaml, harness } = loaded.campaign
  if (from === to) return false
  const transaction = new Transaction(place, { loaded, refs })
  const reason = `${shortRef(from)} is called ${shortRef(to)} now`
  transaction.seal({
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
