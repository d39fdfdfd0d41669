import type { Pull } from '../forge/pull.ts'
import { continueCampaign, type LoadedCampaign, loadCampaign } from '../ledger/load.ts'
import type { Campaign } from '../model/campaign.ts'
import { openAskings } from '../model/fold-asking.ts'
import type { Oid, Point } from '../model/ids.ts'
import { shortRef } from '../model/refs.ts'
import { isToBeRestarted } from '../plan/restart.ts'
import type { World } from '../plan/world.ts'
import { specOf } from '../spec/recorded-spec.ts'
import type { JudgesReader } from './actions/judges.ts'
import type { Asking } from './asking.ts'
import { candidatesOf } from './candidates.ts'
import { defaultBranchOf } from './default-branch.ts'
import { astrayFacts, foreignFacts, madeFacts } from './facts/foreign.ts'
import { holdoutFacts } from './facts/holdout.ts'
import { pickFacts } from './facts/pick.ts'
import { campaignPullFacts, pullsOf, withSaid } from './facts/pulls.ts'
import { releaseDates } from './facts/releases.ts'
import { revertFacts } from './facts/revert.ts'
import { stackedOn } from './facts/stacked.ts'
import { strangersOf } from './facts/strangers.ts'
import { mergedByHand, syncFacts, tipUnderWay } from './facts/sync.ts'
import type { Ideas } from './ideas.ts'
import { listRefs } from './listed-refs.ts'
import { doneOn, type Memory } from './memory.ts'
import { type Place, whereaboutsOf } from './place.ts'
import { requireLedgerNotLost } from './recover.ts'
import type { Runner } from './runner.ts'

export interface Observation {
  world: World
  loaded: LoadedCampaign
  refs: ReadonlyMap<string, Oid>
  pulls: Pull[]
  /** Its full name now, which the ledger may not have yet. */
  defaultBranch: string
  defaultTip: Point
}

export interface Eyes {
  place: Place
  memory: Memory
  runner: Runner
  ideas: Ideas
  asking: Asking
  /** Jobs of their own that have models score; absent where this process asks them. */
  judges?: JudgesReader
  /** The branch of the one idea that this process measures; null: whatever is due. */
  only: string | null
}

/** One look at refs, ledger, forge, runner and ideas. `null` where no campaign was started. */
export async function observe(eyes: Eyes): Promise<Observation | null> {
  const { place, memory } = eyes
  const refs = await refsOf(eyes)
  const state = refs.get(place.refs.state)
  if (state === undefined) {
    await requireLedgerNotLost(place, refs)
    return null
  }
  await fetchTips(place, refs)
  const loaded = memory.loaded
    ? await continueCampaign(place.repository, memory.loaded, state)
    : await loadCampaign(place.repository, state)
  memory.loaded = loaded
  const { campaign } = loaded
  await eyes.runner.tidy(campaign)
  const pulls = await pullsOf(place, campaign, { refs, turn: memory.turn })
  const { ref: defaultBranch, tip: defaultTip } = await defaultBranchOf(place, refs, campaign)
  const around = await lookAround({ ...eyes, refs, campaign, pulls, defaultTip })
  const world = { ...around, ...doneOn(memory, loaded.tip.commit) }
  return { world, loaded, refs, pulls, defaultBranch, defaultTip }
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
  const { isPrivate } = place.forge
  const question = { repository, campaign, spec, defaultTip, where: whereaboutsOf(place.forge), isPrivate }
  const due = byHand ?? { defaultTip: await tipUnderWay(repository, campaign, defaultTip) }
  const sync = await syncFacts({ ...question, ...due })
  const branches = branchTips(place, refs, pulls)
  const strangers = await strangersOf(place, campaign, pulls)
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
    ...outsidersFacts(place, { campaign, spec }),
    stacked: await stackedOn(repository, memory, campaign),
    candidates,
    picks,
    releases: await releaseDates(place, memory, { campaign, spec, now, candidates }),
    sync,
    foreign: await foreignFacts(repository, campaign, spec, optimizeTip),
    astray: await astrayFacts(repository, campaign, { optimizeTip, defaultTip }),
    ...(await madeFacts(repository, campaign, optimizeTip)),
    holdout: await holdoutFacts(place, memory, campaign, spec),
    reverts,
    runs: await runner.facts(campaign),
    ...(scene.judges === undefined ? {} : { judges: await scene.judges.facts(campaign) }),
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

/** Without users of their own, experiments of a job that holds a token run as the user that holds it. */
function outsidersFacts(
  { isolation }: Place,
  { campaign, spec }: Pick<World, 'campaign' | 'spec'>,
): Pick<World, 'outsidersDenied'> {
  if (isolation === undefined) return {}
  const isNone = spec.measurement.isolation === 'none' || campaign.isolated[campaign.harness] === false
  if (isolation.asRoot && !isNone) return {}
  const why = 'this job has no users of their own for experiments, which could read its token'
  return { outsidersDenied: `${why}: it measures nothing of people without write access` }
}

/** Everything but the forge's ref, which the forge reads itself. */
async function fetchTips(place: Place, refs: ReadonlyMap<string, Oid>): Promise<void> {
  const wanted = [...refs].filter(([ref]) => ref !== place.refs.forge && ref.startsWith('refs/heads/'))
  await place.repository.fetch(wanted.map(([ref, oid]) => ({ ref, oid })))
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
