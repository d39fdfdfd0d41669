import type { Forge } from '../../github/port.ts'
import { getHeadRef, type Pull } from '../../github/pull.ts'
import type { Campaign } from '../../model/campaign.ts'
import { type Experiment, listExperiments, listSubjects } from '../../model/experiment.ts'
import { type Oid, toShortRef } from '../../model/ids.ts'
import type { PullFacts, World } from '../../plan/world.ts'
import type { CampaignContext } from '../campaign/context.ts'

/** Reads open pull requests, and those of experiments that still need cleanup. */
export async function readCampaignPulls(
  context: CampaignContext,
  campaign: Campaign,
  { refs, turn }: { refs: ReadonlyMap<string, Oid>; turn: number },
): Promise<Pull[]> {
  if (context.forge === null) return []
  const untidy = listExperiments(campaign).filter(
    ({ status, branch }) => status !== 'ended' || (branch !== null && refs.has(`refs/heads/${branch}`)),
  )
  const relevant = [...untidy, ...listLateExternal(campaign)].flatMap(({ pull }) =>
    pull === null ? [] : [pull],
  )
  const numbers = [...new Set(relevant)]
  const picked = new Set(Object.values(campaign.picks).map(({ branch }) => branch))
  const branches = [...refs.keys()]
    .filter(ref => ref.startsWith(context.refs.experiments))
    .map(toShortRef)
    .filter(branch => !picked.has(branch))
  const campaignPull = getCampaignPullBranches(context, campaign)
  const elsewhere = [...(campaignPull === null ? [] : [campaignPull]), ...listOpenPicks(campaign, refs)]
  const read = new Map(Object.entries(campaign.comments_read).map(([number, upTo]) => [Number(number), upTo]))
  const wanted = { numbers, branches, elsewhere, recent: MOST_RECENT_PULLS, read }
  const pulls = await context.forge.list(wanted, computeMoment({ context, campaign }, refs, turn))
  const open = pulls.filter(({ state }) => state === 'open')
  await context.repository.fetch(open.map(pull => ({ ref: getHeadRef(pull), oid: pull.head })))
  return pulls
}

/** Pull requests depend neither on the ledger nor on branches of closed experiments. */
function computeMoment(
  { context, campaign }: { context: CampaignContext; campaign: Campaign },
  refs: ReadonlyMap<string, Oid>,
  turn: number,
): string {
  const over = listSubjects(campaign).filter(({ owned, closed }) => owned && closed)
  const branches = over.map(({ branch }) => `refs/heads/${branch}`)
  const without: ReadonlySet<string> = new Set([context.refs.state, context.refs.closed, ...branches])
  const others = [...refs].filter(([ref]) => !without.has(ref)).map(([ref, oid]) => `${ref} ${oid}`)
  return JSON.stringify([turn, ...others.toSorted()])
}

/** Recent pull requests whose comments are read, even after they are closed. */
const MOST_RECENT_PULLS = 20

function listOpenPicks({ picks, default_branch }: Campaign, refs: ReadonlyMap<string, Oid>) {
  const base = toShortRef(default_branch)
  return Object.values(picks).flatMap(({ branch, closed }) =>
    branch !== null && (!closed || refs.has(`refs/heads/${branch}`)) ? [{ branch, base }] : [],
  )
}

/** Recently ended pull requests of other people that still get a comment with the result. */
const MOST_LATE_COMMENTS = 10

function listLateExternal(campaign: Campaign): Experiment[] {
  const others = listExperiments(campaign).filter(({ owned, status }) => !owned && status === 'ended')
  return others.slice(-MOST_LATE_COMMENTS)
}

export function withOwnComments(pull: Pull): Pull & Required<Pick<PullFacts, 'ownComments'>> {
  const ownComments = pull.comments.flatMap(({ key, body }) => (key === undefined ? [] : [{ key, body }]))
  return { ...pull, ownComments }
}

/** Only GitHub has a pull request of the campaign, and only after the first landing. */
function getCampaignPullBranches({ forge, refs }: CampaignContext, { landings, default_branch }: Campaign) {
  if (forge === null || landings.length === 0) return null
  return { branch: toShortRef(refs.campaign), base: toShortRef(default_branch) }
}

export function findCampaignPull(
  context: CampaignContext,
  campaign: Campaign,
  pulls: readonly Pull[],
): Pick<World, 'campaignPull'> {
  const branches = getCampaignPullBranches(context, campaign)
  if (branches === null) return {}
  const { branch, base } = branches
  const mine = pulls.filter(pull => pull.branch === branch && pull.base === base)
  // The previous campaign's pull request of the same branch does not count.
  const since = campaign.started_at ?? ''
  const found = mine.findLast(({ closed_at }) => closed_at === null || closed_at >= since)
  return { campaignPull: found === undefined ? null : withOwnComments(found) }
}

/** Limits how many people one tick looks up. The others wait for the next tick. */
const MOST_LOOKUPS = 20

/**
 * Returns experiments whose author has no write permission. Only people with write permission can push below
 * winnow's own prefix. A fork is trusted only when its owner opens the pull request, because others can push
 * to it.
 */
export async function findStrangers(
  { forge, refs }: Pick<CampaignContext, 'refs'> & { forge: Pick<Forge, 'readPermission'> | null },
  campaign: Campaign,
  pulls: readonly Pull[],
): Promise<World['outsiders']> {
  const found = new Map<string, string | null>()
  if (forge === null) return found
  const own = toShortRef(refs.experiments)
  const asked = new Set<string>()
  // No queued experiment has a turn while a round is open, so the author is looked up when the next round
  // starts.
  const later = campaign.status === 'running' && campaign.round?.open === true
  for (const experiment of listExperiments(campaign)) {
    const { id, branch, pull: number, head, needs_permission, status, owned, allowed_head } = experiment
    if (status !== 'queued' || owned || allowed_head === head) continue
    if (branch === null || branch.startsWith(own)) continue
    const author = pulls.find(pull => pull.number === number)?.author ?? null
    // The ledger already has the answer for this head. An author who got permission since pushes a new head or
    // allows this one.
    if (author === null || !isForkOwner(branch, author) || needs_permission?.head === head) {
      found.set(id, author)
      continue
    }
    asked.add(author)
    const may = later || asked.size > MOST_LOOKUPS ? null : await forge.readPermission(author)
    if (may !== 'write' && may !== 'admin') found.set(id, may === null ? null : author)
  }
  return found
}

function isForkOwner(branch: string, author: string): boolean {
  const [owner = '', inFork] = branch.split(':', 2)
  return inFork === undefined || owner.toLowerCase() === author.toLowerCase()
}
