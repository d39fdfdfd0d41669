import type { Forge } from '../../github/port.ts'
import { getHeadRef, type Pull } from '../../github/pull.ts'
import type { Campaign } from '../../model/campaign.ts'
import { type Experiment, listExperiments, listSubjects } from '../../model/experiment.ts'
import { type Oid, toShortRef } from '../../model/ids.ts'
import type { World } from '../../plan/world.ts'
import { type CampaignContext, isListed } from '../campaign/context.ts'

/** Open ones, and those of experiments that are not tidied up yet; heads other people pushed come in here. */
export async function readCampaignPulls(
  place: CampaignContext,
  campaign: Campaign,
  { refs, turn }: { refs: ReadonlyMap<string, Oid>; turn: number },
): Promise<Pull[]> {
  const untidy = listExperiments(campaign).filter(
    ({ status, branch }) => status !== 'ended' || (branch !== null && refs.has(`refs/heads/${branch}`)),
  )
  const tended = [...untidy, ...listLateExternal(campaign)].flatMap(({ pull }) =>
    pull === null ? [] : [pull],
  )
  const numbers = [...new Set(tended)]
  const picked = new Set(Object.values(campaign.picks).map(({ branch }) => branch))
  const branches = [...refs.keys()]
    .filter(ref => ref.startsWith(place.refs.experiments))
    .map(toShortRef)
    .filter(branch => !picked.has(branch))
  const campaignPull = getCampaignPullBranches(place, campaign)
  const elsewhere = [...(campaignPull === null ? [] : [campaignPull]), ...listOpenPicks(campaign, refs)]
  const recent = place.forge.readPermission === undefined ? 0 : HEARD
  const read = new Map(Object.entries(campaign.comments_read).map(([number, upTo]) => [Number(number), upTo]))
  const wanted = { numbers, branches, elsewhere, recent, read }
  const pulls = await place.forge.list(wanted, {
    refs,
    covers: ref => isListed(place, ref),
    moment: computeMoment({ place, campaign }, refs, turn),
  })
  const open = pulls.filter(({ state }) => state === 'open')
  await place.repository.fetch(open.map(pull => ({ ref: getHeadRef(pull), oid: pull.head })))
  return pulls
}

/**
 * The ledger changes no pull request, and neither does deleting a branch after the pull request of its experiment was
 * merged or closed.
 */
function computeMoment(
  { place, campaign }: { place: CampaignContext; campaign: Campaign },
  refs: ReadonlyMap<string, Oid>,
  turn: number,
): string {
  const over = listSubjects(campaign).filter(({ owned, closed }) => owned && closed)
  const branches = over.map(({ branch }) => `refs/heads/${branch}`)
  const without: ReadonlySet<string> = new Set([place.refs.state, place.refs.closed, ...branches])
  const others = [...refs].filter(([ref]) => !without.has(ref)).map(([ref, oid]) => `${ref} ${oid}`)
  return JSON.stringify([turn, ...others.toSorted()])
}

/** Where there are other people, they say something on any of them, whatever became of it: of so many that is heard. */
const HEARD = 20

/** Changes taken alone are offered to the default branch; asked about until nothing of them is left to tidy up. */
function listOpenPicks({ picks, default_branch }: Campaign, refs: ReadonlyMap<string, Oid>) {
  const base = toShortRef(default_branch)
  return Object.values(picks).flatMap(({ branch, closed }) =>
    branch !== null && (!closed || refs.has(`refs/heads/${branch}`)) ? [{ branch, base }] : [],
  )
}

/** However their landing closed them, they are told what came of it by a comment. */
const TOLD_LATE = 10

function listLateExternal(campaign: Campaign): Experiment[] {
  const others = listExperiments(campaign).filter(({ owned, status }) => !owned && status === 'ended')
  return others.slice(-TOLD_LATE)
}

export function withOwnComments(pull: Pull): Pull & { ownComments: string } {
  const own = pull.comments.filter(comment => comment.own)
  return { ...pull, ownComments: own.map(({ body }) => body).join('\n') }
}

/** Only where there are other people somebody could take it; before the first landing there is nothing to take. */
function getCampaignPullBranches({ forge, refs }: CampaignContext, { landings, default_branch }: Campaign) {
  if (forge.kind !== 'github' || landings.length === 0) return null
  return { branch: toShortRef(refs.campaign), base: toShortRef(default_branch) }
}

export function findCampaignPull(
  place: CampaignContext,
  campaign: Campaign,
  pulls: readonly Pull[],
): Pick<World, 'campaignPull'> {
  const branches = getCampaignPullBranches(place, campaign)
  if (branches === null) return {}
  const { branch, base } = branches
  const mine = pulls.filter(pull => pull.branch === branch && pull.base === base)
  // What people did with the pull request of the campaign before this one was about that one.
  const since = campaign.started_at ?? ''
  const found = mine.findLast(({ closed_at }) => closed_at === null || closed_at >= since)
  return { campaignPull: found === undefined ? null : withOwnComments(found) }
}

/** So many people are asked about at a look; the others wait for the next. */
const MOST_ASKED = 20

/**
 * Which experiments were brought by people who may not write here. Below the engine's own prefix only people who may
 * can push; a fork is trusted only where its owner offers it: others can push there.
 */
export async function findStrangers(
  { forge, refs }: Pick<CampaignContext, 'refs'> & { forge: Pick<Forge, 'readPermission'> },
  campaign: Campaign,
  pulls: readonly Pull[],
): Promise<World['outsiders']> {
  const found = new Map<string, string | null>()
  if (forge.readPermission === undefined) return found
  const own = toShortRef(refs.experiments)
  const asked = new Set<string>()
  // While a round is open no other experiment has a turn: its author is looked up when the next one begins.
  const later = campaign.status === 'running' && campaign.round?.open === true
  for (const experiment of listWaitingExperiments(campaign)) {
    const { id, branch, pull: number, head, stranger } = experiment
    if (branch === null || branch.startsWith(own)) continue
    const author = pulls.find(pull => pull.number === number)?.author ?? null
    // What the ledger says of this very head is not asked again: who may write since brings another, or allows it.
    if (author === null || !isForkOwner(branch, author) || stranger?.head === head) {
      found.set(id, author)
      continue
    }
    asked.add(author)
    const may = later || asked.size > MOST_ASKED ? null : await forge.readPermission(author)
    if (may !== 'write' && may !== 'admin') found.set(id, may === null ? null : author)
  }
  return found
}

function listWaitingExperiments(campaign: Campaign): Experiment[] {
  return listExperiments(campaign).filter(
    ({ status, owned, allowed_head, head }) => status === 'queued' && !owned && allowed_head !== head,
  )
}

function isForkOwner(branch: string, author: string): boolean {
  const [owner = '', inFork] = branch.split(':', 2)
  return inFork === undefined || owner.toLowerCase() === author.toLowerCase()
}
