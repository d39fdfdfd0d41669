import { UserError } from '../errors.ts'
import type { Permission } from '../forge/port.ts'
import { headRef, type Pull } from '../forge/pull.ts'
import { continueCampaign, type LoadedCampaign, loadCampaign } from '../ledger/load.ts'
import type { Campaign } from '../model/campaign.ts'
import type { ExperimentId, Oid, Point } from '../model/ids.ts'
import { trailersOf } from '../model/landing.ts'
import type { Experiment } from '../model/experiment.ts'
import { openAskings } from '../model/fold-asking.ts'
import { shortRef } from '../model/refs.ts'
import { isToBeRestarted } from '../plan/restart.ts'
import type { CandidateFacts, HoldoutFacts, PickFacts, PullFacts, World } from '../plan/world.ts'
import type { Spec } from '../spec/schema.ts'
import { candidatesOf } from './candidates.ts'
import { foreignRefusal } from './facts/candidate.ts'
import { holdoutFacts } from './facts/holdout.ts'
import { pickFacts } from './facts/pick.ts'
import { releaseDates } from './facts/releases.ts'
import { revertFacts } from './facts/revert.ts'
import { stackedOn } from './facts/stacked.ts'
import { strangersOf } from './facts/strangers.ts'
import { mergedByHand, syncFacts } from './facts/sync.ts'
import type { Asking } from './asking.ts'
import type { Ideas } from './ideas.ts'
import { type Place, whereaboutsOf } from './place.ts'
import type { Runner } from './runner.ts'
import { specOf } from '../spec/recorded-spec.ts'

/** What is remembered between looks, to look faster; forgetting it changes nothing (invariant 11). */
export interface Memory {
  loaded: LoadedCampaign | null
  candidates: Map<string, CandidateFacts>
  /** What a change comes to on the default branch, by both. */
  picks: Map<string, PickFacts>
  /** What people may do, as far as it was asked. */
  permissions: Map<string, Permission>
  /** Checks as this process has shown them. */
  checks: Map<ExperimentId, string>
  /** When releases were published, as far as it was asked. */
  releases: Map<string, string | null>
  /** Which commits are in the history of which: that never changes. */
  ancestors: Map<string, boolean>
  /** The remote's refs when they were last asked for, and as our own pushes left them since. */
  refs: ReadonlyMap<string, Oid> | null
  /** Where the holdout's ref was at the same time. */
  holdout: HoldoutFacts | null
  /** On the clock that never jumps. */
  askedAt: number
  /** The campaign's state that the ledger's views are known to tell. */
  shown: Campaign['status'] | null
}

export function emptyMemory(): Memory {
  return {
    loaded: null,
    candidates: new Map(),
    picks: new Map(),
    permissions: new Map(),
    checks: new Map(),
    releases: new Map(),
    ancestors: new Map(),
    refs: null,
    holdout: null,
    askedAt: Number.NEGATIVE_INFINITY,
    shown: null,
  }
}

export interface Observation {
  world: World
  loaded: LoadedCampaign
  refs: ReadonlyMap<string, Oid>
  pulls: Pull[]
  defaultTip: Point
}

export interface Eyes {
  place: Place
  memory: Memory
  runner: Runner
  ideas: Ideas
  asking: Asking
  /** The branch of the one idea that this process measures; null: whatever is due. */
  only: string | null
}

/** One look at refs, ledger, forge, runner and ideas. `null` where no campaign was started. */
export async function observe(eyes: Eyes): Promise<Observation | null> {
  const { place, memory } = eyes
  const refs = await refsOf(eyes)
  const state = refs.get(place.refs.state)
  if (state === undefined) return null
  await fetchTips(place, refs)
  const loaded = memory.loaded
    ? await continueCampaign(place.repository, memory.loaded, state)
    : await loadCampaign(place.repository, state)
  memory.loaded = loaded
  const { campaign } = loaded
  await eyes.runner.tidy(campaign)
  const pulls = await pullsOf(place, campaign, refs)
  const defaultTip = await pointAt(place, refs, campaign.default_branch)
  const world = await lookAround({ ...eyes, refs, campaign, pulls, defaultTip })
  return { world, loaded, refs, pulls, defaultTip }
}

async function refsOf({ place, memory }: Eyes): Promise<ReadonlyMap<string, Oid>> {
  if (memory.refs !== null) return memory.refs
  const { refs } = await listRefs(place)
  memory.refs = refs
  memory.holdout = null
  memory.askedAt = place.clock.monotonic()
  return refs
}

/** The world as it will be once what a transaction holds is accepted; pull requests follow at the next look. */
export async function worldAfter(
  eyes: Eyes,
  seen: Observation,
  refs: ReadonlyMap<string, Oid>,
): Promise<World> {
  const { pulls, defaultTip, loaded } = seen
  return lookAround({ ...eyes, refs, campaign: loaded.campaign, pulls, defaultTip })
}

/** Open ones, and those of experiments that are not tidied up yet; heads other people pushed come in here. */
async function pullsOf(place: Place, campaign: Campaign, refs: ReadonlyMap<string, Oid>): Promise<Pull[]> {
  const untidy = Object.values(campaign.experiments).filter(
    ({ status, branch }) => status !== 'ended' || (branch !== null && refs.has(`refs/heads/${branch}`)),
  )
  const tended = [...untidy, ...lastOfOthers(campaign)].flatMap(({ pull }) => (pull === null ? [] : [pull]))
  const numbers = [...new Set([...tended, ...keptPulls(place, campaign)])]
  const picked = new Set(Object.values(campaign.picks).map(({ branch }) => branch))
  const branches = [...refs.keys()]
    .filter(ref => ref.startsWith(place.refs.experiments))
    .map(shortRef)
    .filter(branch => !picked.has(branch))
  const campaignPull = campaignPullOf(place, campaign)
  const elsewhere = picksOpen(campaign, refs)
  const wanted = { numbers, branches, elsewhere, ...(campaignPull === null ? {} : { campaignPull }) }
  const pulls = await place.forge.list(wanted, { refs, covers: ref => isListed(place, ref) })
  const open = pulls.filter(({ state }) => state === 'open')
  await place.repository.fetch(open.map(pull => ({ ref: headRef(pull), oid: pull.head })))
  return pulls
}

const KEPT_HEARD = 20

/** Where there are other people, they say on a kept change's own pull request that they want it alone. */
function keptPulls({ forge }: Place, { landings, experiments }: Campaign): number[] {
  if (forge.permissionOf === undefined) return []
  const standing = landings.filter(({ reverted }) => reverted === null).slice(-KEPT_HEARD)
  return standing.flatMap(({ experiment }) => experiments[experiment]?.pull ?? [])
}

/** Changes taken alone are offered to the default branch; asked about until nothing of them is left to tidy up. */
function picksOpen({ picks, default_branch }: Campaign, refs: ReadonlyMap<string, Oid>) {
  const base = shortRef(default_branch)
  return Object.values(picks).flatMap(({ branch, closed }) =>
    branch !== null && (!closed || refs.has(`refs/heads/${branch}`)) ? [{ branch, base }] : [],
  )
}

/** However their landing closed them, they are told what came of it by a comment. */
const TOLD_LATE = 10

function lastOfOthers({ experiments }: Campaign): Experiment[] {
  const others = Object.values(experiments).filter(({ owned, status }) => !owned && status === 'ended')
  return others.slice(-TOLD_LATE)
}

function withSaid(pull: Pull): PullFacts {
  const own = pull.comments.filter(comment => comment.own)
  return { ...pull, said: own.map(({ body }) => body).join('\n') }
}

/** Only where there are other people somebody could take it; before the first landing there is nothing to take. */
function campaignPullOf({ forge, refs }: Place, { landings, default_branch }: Campaign) {
  if (forge.kind !== 'github' || landings.length === 0) return null
  return { branch: shortRef(refs.campaign), base: shortRef(default_branch) }
}

function campaignPullFacts(
  place: Place,
  campaign: Campaign,
  pulls: readonly Pull[],
): Pick<World, 'campaignPull'> {
  const branches = campaignPullOf(place, campaign)
  if (branches === null) return {}
  const { branch, base } = branches
  const mine = pulls.filter(pull => pull.branch === branch && pull.base === base)
  // What people did with the pull request of the campaign before this one was about that one.
  const since = campaign.started_at ?? ''
  const found = mine.findLast(({ closed_at }) => closed_at === null || closed_at >= since)
  return { campaignPull: found === undefined ? null : { ...found, ...withSaid(found) } }
}

/** Merging and going on is what people do on one machine; it ends a campaign only where the spec says so. */
async function mergedFacts(
  { forge, repository }: Place,
  { campaign, spec, defaultTip }: Pick<World, 'campaign' | 'spec' | 'defaultTip'>,
): Promise<Pick<World, 'merged'>> {
  if (forge.kind === 'github' || !isToBeRestarted({ campaign, spec })) return {}
  if (!campaign.landings.some(({ reverted }) => reverted === null)) return {}
  return (await repository.isAncestor(campaign.incumbent.commit, defaultTip.commit)) ? { merged: true } : {}
}

interface Scene extends Eyes {
  refs: ReadonlyMap<string, Oid>
  campaign: Campaign
  pulls: Pull[]
  defaultTip: Point
}

async function lookAround(scene: Scene): Promise<World> {
  const { place, memory, campaign, refs, pulls, defaultTip, runner, ideas, asking, only } = scene
  const { repository, clock, random } = place
  const spec = specOf(campaign)
  // Before answers are read: who answers in between is counted twice and not forgotten.
  const asked = asking.facts()
  const optimizeTip = await optionalPoint(place, refs.get(place.refs.optimize))
  const byHand = await mergedByHand(repository, campaign, { optimizeTip, defaultTip })
  const question = { repository, campaign, spec, defaultTip, where: whereaboutsOf(place.forge) }
  const sync = await syncFacts({ ...question, ...byHand })
  const branches = branchTips(place, refs, pulls)
  const strangers = await strangersOf(place, memory, campaign, pulls)
  const reverts = await revertFacts(repository, campaign)
  const picks = await pickFacts({ repository, memory, campaign })
  const unsynced = sync === null ? null : defaultTip.commit
  const now = new Date(clock.now()).toISOString()
  const candidates = await candidatesOf({
    repository,
    memory,
    campaign,
    spec,
    unsynced,
    only,
    branches,
    strangers,
    picks,
    now,
  })
  return {
    now,
    entropy: random.hex(32),
    campaign,
    spec,
    optimizeTip,
    campaignTip: refs.get(place.refs.campaign) ?? null,
    defaultTip,
    pulls: place.forge.kind === 'github' ? pulls.map(withSaid) : pulls,
    rated: place.forge.kind === 'github',
    checks: place.forge.check !== undefined,
    shown: memory.checks,
    ...campaignPullFacts(place, campaign, pulls),
    ...(await mergedFacts(place, { campaign, spec, defaultTip })),
    branches,
    ...(await ideas.find({ campaign, spec, defaultTip, branches, pulls, reverts, only })),
    strangers,
    stacked: await stackedOn(repository, memory, campaign),
    candidates,
    picks,
    releases: await releaseDates(place, memory, { campaign, spec, now, candidates }),
    sync,
    foreign: await foreignFacts(place, campaign, spec, optimizeTip),
    ...(await madeFacts(place, campaign, optimizeTip)),
    holdout: await holdoutFacts(place, memory, campaign, spec),
    reverts,
    runs: await runner.facts(campaign),
    runner: {
      runId: runner.runId,
      machine: runner.machine,
      external: spec.propose.some(({ use }) => use === 'external'),
    },
    askable: ideas.askable(campaign, spec),
    asking: [...asked, ...openAskings(campaign).map(({ who }) => who)],
    asks: asking.where,
    only,
  }
}

export async function listRefs(place: Place) {
  return place.repository.remoteRefs([...listed(place), `${place.refs.experiments}*`])
}

function listed({ refs, defaultBranch }: Place): string[] {
  return [refs.optimize, refs.campaign, refs.state, refs.closed, refs.forge, defaultBranch]
}

/** Whether a look at the remote would have shown this ref. */
export function isListed(place: Place, ref: string): boolean {
  return ref.startsWith(place.refs.experiments) || listed(place).includes(ref)
}

/** Everything but the forge's ref, which the forge reads itself. */
async function fetchTips(place: Place, refs: ReadonlyMap<string, Oid>): Promise<void> {
  const wanted = [...refs].filter(([ref]) => ref !== place.refs.forge && ref.startsWith('refs/heads/'))
  await place.repository.fetch(wanted.map(([ref, oid]) => ({ ref, oid })))
}

/** The branch recorded at the start may not be the one that is checked out now. */
async function pointAt(place: Place, refs: ReadonlyMap<string, Oid>, ref: string): Promise<Point> {
  const oid = refs.get(ref) ?? (await place.repository.remoteRefs([ref])).refs.get(ref)
  if (oid === undefined) {
    throw new UserError(
      `the default branch ${shortRef(ref)} is not in ${place.local ? 'this repository' : 'the remote'}`,
      {
        fix: 'push it, or start fresh on the branch that replaced it: winnow run --fresh',
      },
    )
  }
  if (!refs.has(ref)) await place.repository.fetch([{ ref, oid }])
  return { commit: oid, tree: (await place.repository.commit(oid)).tree }
}

async function optionalPoint(place: Place, oid: Oid | undefined): Promise<Point | null> {
  return oid === undefined ? null : { commit: oid, tree: (await place.repository.commit(oid)).tree }
}

/** Branches of experiments: winnow's own by their refs, other people's as their pull requests name them. */
function branchTips(place: Place, refs: ReadonlyMap<string, Oid>, pulls: readonly Pull[]): Map<string, Oid> {
  const tips = new Map<string, Oid>()
  for (const pull of pulls) if (pull.state === 'open') tips.set(pull.branch, pull.head)
  for (const [ref, oid] of refs) if (ref.startsWith(place.refs.experiments)) tips.set(shortRef(ref), oid)
  return tips
}

/** What somebody else may have made of a verdict that waits for its merge. */
async function madeFacts(
  { repository }: Place,
  { landing, incumbent }: Campaign,
  tip: Point | null,
): Promise<Pick<World, 'made'>> {
  if (landing === null || tip === null || tip.commit === incumbent.commit) return {}
  const { parents, message } = await repository.commit(tip.commit)
  return { made: { ...tip, parents, names: trailersOf(message).get('Winnow-Ledger') ?? null } }
}

async function foreignFacts(place: Place, campaign: Campaign, spec: Spec, tip: Point | null) {
  if (tip === null || tip.commit === campaign.incumbent.commit) return null
  const change = { from: campaign.incumbent.tree, to: tip.tree }
  return { tip, refusal: await foreignRefusal(place.repository, spec, change) }
}
