import type { Campaign } from '../../model/campaign.ts'
import type { Oid } from '../../model/ids.ts'
import { parseTrailers } from '../../model/landing.ts'
import { toShortRef } from '../../model/refs.ts'
import type { CampaignContext } from '../place.ts'

/** What a branch holds that no event accounts for; `open` says that the campaign knows and is looking at it. */
export interface BranchFinding {
  open: boolean
  what: string
  commit: Oid
}

/** The optimize branch ends where the ledger says, or the first commit beyond that is named. */
export async function checkOptimizeBranch(
  place: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
  { campaign, incumbents }: { campaign: Campaign; incumbents: ReadonlySet<Oid> },
): Promise<BranchFinding | null> {
  const name = toShortRef(place.refs.optimize)
  const last = campaign.incumbent.commit
  const tip = refs.get(place.refs.optimize)
  if (tip === last) return null
  if (tip === undefined)
    return { open: false, commit: last, what: `${name} is gone: the last recorded incumbent is ${last}` }
  if (campaign.foreign?.to.commit === tip) {
    const what = `${name} is at ${tip}, which winnow did not push: it is known and not measured yet`
    return { open: true, commit: tip, what }
  }
  if (incumbents.has(tip)) {
    const what = `${name} is at ${tip}, an earlier incumbent: the last recorded one is ${last}`
    return { open: false, commit: tip, what }
  }
  return describeUnknownCommit(place, name, tip, incumbents)
}

async function describeUnknownCommit(
  place: CampaignContext,
  name: string,
  tip: Oid,
  incumbents: ReadonlySet<Oid>,
): Promise<BranchFinding> {
  const first = await findFirstUnknownCommit(place, tip, incumbents)
  if (first === null) {
    const what = `commit ${tip} on ${name} has no evidence: it does not descend from any recorded incumbent`
    return { open: false, commit: tip, what }
  }
  const { message } = await place.repository.commit(first)
  const claim = parseTrailers(message).get('Winnow-Ledger')
  const said = claim === undefined ? '' : ` (its trailer claims event ${claim.slice(0, 80)})`
  const what = `commit ${first} on ${name} has no evidence: no event records it as incumbent${said}`
  return { open: false, commit: first, what }
}

/** The oldest commit on the way of first parents from a recorded incumbent to the tip. */
async function findFirstUnknownCommit(
  place: CampaignContext,
  tip: Oid,
  incumbents: ReadonlySet<Oid>,
): Promise<Oid | null> {
  let at = tip
  for (;;) {
    const [parent] = (await place.repository.commit(at)).parents
    if (parent === undefined || !(await place.repository.has(parent))) return null
    if (incumbents.has(parent)) return at
    at = parent
  }
}

/** The campaign branch only ever follows the incumbent; a person may have added to it before merging. */
export function checkCampaignBranch(
  place: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
  incumbents: ReadonlySet<Oid>,
): BranchFinding | null {
  const tip = refs.get(place.refs.campaign)
  if (tip === undefined || incumbents.has(tip)) return null
  const what = `${toShortRef(place.refs.campaign)} is at ${tip}, which is no recorded incumbent`
  return { open: true, commit: tip, what }
}

/** A synced commit that the default branch no longer holds: rewritten since, or never there. */
export async function checkSyncedCommits(
  place: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
  campaign: Campaign,
  synced: readonly Oid[],
): Promise<BranchFinding[]> {
  const name = toShortRef(campaign.default_branch)
  const tip = refs.get(campaign.default_branch)
  const found: BranchFinding[] = []
  for (const commit of synced) {
    if (!(await place.repository.has(commit))) continue
    if (tip !== undefined && (await place.repository.isAncestor(commit, tip))) continue
    found.push({ open: true, commit, what: `the synced commit ${commit} is not on ${name} now` })
  }
  return found
}
