import type { Pull } from '../forge/pull.ts'
import { continueCampaign, type LoadedCampaign, loadCampaign } from '../ledger/load.ts'
import type { Campaign } from '../model/campaign.ts'
import { listPendingProposals } from '../model/fold-asking.ts'
import type { Oid, Point } from '../model/ids.ts'
import { toShortRef } from '../model/refs.ts'
import { isRestartDue } from '../plan/restart.ts'
import type { World } from '../plan/world.ts'
import { getCampaignSpec } from '../spec/recorded-spec.ts'
import type { JudgesReader } from './actions/judges.ts'
import type { ProposerTasks } from './asking.ts'
import { findCandidates } from './candidates.ts'
import { findDefaultBranch } from './default-branch.ts'
import { readAstrayFacts, readForeignFacts, readForeignLanding } from './facts/foreign.ts'
import { readHoldoutFacts } from './facts/holdout.ts'
import { readPickFacts } from './facts/pick.ts'
import { findCampaignPull, readCampaignPulls, withOwnComments } from './facts/pulls.ts'
import { readReleaseDates } from './facts/releases.ts'
import { readRevertFacts } from './facts/revert.ts'
import { findStackedExperiments } from './facts/stacked.ts'
import { findStrangers } from './facts/strangers.ts'
import { findManualMerge, readSyncFacts, findTipInProgress } from './facts/sync.ts'
import type { IdeaSource } from './ideas.ts'
import { listRefs } from './listed-refs.ts'
import { listDoneKeys, type Memory } from './memory.ts'
import { type CampaignContext, getWhereabouts } from './place.ts'
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

export interface ObserverContext {
  place: CampaignContext
  memory: Memory
  runner: Runner
  ideas: IdeaSource
  asking: ProposerTasks
  /** Jobs of their own that have models score; absent where this process asks them. */
  judges?: JudgesReader
  /** The branch of the one idea that this process measures; null: whatever is due. */
  targetBranch: string | null
}

/** One look at refs, ledger, forge, runner and ideas. `null` where no campaign was started. */
export async function observe(eyes: ObserverContext): Promise<Observation | null> {
  const { place, memory } = eyes
  const refs = await readRefs(eyes)
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
  const pulls = await readCampaignPulls(place, campaign, { refs, turn: memory.turn })
  const { ref: defaultBranch, tip: defaultTip } = await findDefaultBranch(place, refs, campaign)
  const around = await buildWorld({ ...eyes, refs, campaign, pulls, defaultTip })
  const world = { ...around, ...listDoneKeys(memory, loaded.tip.commit) }
  return { world, loaded, refs, pulls, defaultBranch, defaultTip }
}

async function readRefs({ place, memory }: ObserverContext): Promise<ReadonlyMap<string, Oid>> {
  if (memory.refs !== null) return memory.refs
  const { refs } = await listRefs(place)
  memory.refs = refs
  memory.holdout = null
  memory.askedAt = place.clock.monotonic()
  return refs
}

/** The world as it will be once what a transaction holds is accepted; pull requests follow at the next look. */
export async function predictWorld(
  eyes: ObserverContext,
  seen: Observation,
  refs: ReadonlyMap<string, Oid>,
): Promise<World> {
  const { pulls, defaultTip, loaded } = seen
  return buildWorld({ ...eyes, refs, campaign: loaded.campaign, pulls, defaultTip })
}

/** Merging and going on is what people do on one machine; it ends a campaign only where the spec says so. */
async function readMergedFacts(
  { forge, repository }: CampaignContext,
  { campaign, spec, defaultTip }: Pick<World, 'campaign' | 'spec' | 'defaultTip'>,
): Promise<Pick<World, 'merged'>> {
  if (forge.kind === 'github' || !isRestartDue({ campaign, spec })) return {}
  if (!campaign.landings.some(({ reverted }) => reverted === null)) return {}
  return (await repository.isAncestor(campaign.incumbent.commit, defaultTip.commit)) ? { merged: true } : {}
}

interface ObservedCampaign extends ObserverContext {
  refs: ReadonlyMap<string, Oid>
  campaign: Campaign
  pulls: Pull[]
  defaultTip: Point
}

async function buildWorld(scene: ObservedCampaign): Promise<World> {
  const {
    place,
    memory,
    campaign,
    refs,
    pulls,
    defaultTip,
    runner,
    ideas,
    asking,
    targetBranch: only,
  } = scene
  const { repository, clock, random } = place
  const spec = getCampaignSpec(campaign)
  // Before answers are read: who answers in between is counted twice and not forgotten.
  const asked = asking.facts()
  const optimizeTip = await readOptionalPoint(place, refs.get(place.refs.optimize))
  const byHand = await findManualMerge(repository, campaign, { optimizeTip, defaultTip })
  const { isPrivate } = place.forge
  const question = { repository, campaign, spec, defaultTip, where: getWhereabouts(place.forge), isPrivate }
  const due = byHand ?? { defaultTip: await findTipInProgress(repository, campaign, defaultTip) }
  const sync = await readSyncFacts({ ...question, ...due })
  const branches = collectBranchTips(place, refs, pulls)
  const strangers = await findStrangers(place, campaign, pulls)
  const reverts = await readRevertFacts(repository, campaign)
  const picks = await readPickFacts({ repository, memory, campaign })
  const unsynced = sync === null ? null : defaultTip.commit
  const now = new Date(clock.now()).toISOString()
  const candidates = await findCandidates({
    repository,
    memory,
    campaign,
    spec,
    unsynced,
    targetBranch: only,
    branches,
    outsiders: strangers,
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
    pulls: place.forge.kind === 'github' ? pulls.map(withOwnComments) : pulls,
    hasPublicPulls: place.forge.kind === 'github',
    checks: place.forge.check !== undefined,
    shownChecks: memory.checks,
    ...findCampaignPull(place, campaign, pulls),
    ...(await readMergedFacts(place, { campaign, spec, defaultTip })),
    branches,
    ...(await ideas.find({ campaign, spec, defaultTip, branches, pulls, reverts, targetBranch: only })),
    outsiders: strangers,
    ...findOutsidersDenied(place, { campaign, spec }),
    stacked: await findStackedExperiments(repository, memory, campaign),
    candidates,
    picks,
    releases: await readReleaseDates(place, memory, { campaign, spec, now, candidates }),
    sync,
    foreign: await readForeignFacts(repository, campaign, spec, optimizeTip),
    branchMismatch: await readAstrayFacts(repository, campaign, { optimizeTip, defaultTip }),
    ...(await readForeignLanding(repository, campaign, optimizeTip)),
    holdout: await readHoldoutFacts(place, memory, campaign, spec),
    reverts,
    runs: await runner.facts(campaign),
    ...(scene.judges === undefined ? {} : { judges: await scene.judges.facts(campaign) }),
    runner: {
      runId: runner.runId,
      machine: runner.machine,
      external: spec.propose.some(({ use }) => use === 'external'),
    },
    askable: ideas.listProposers(campaign, spec),
    asking: [...asked, ...listPendingProposals(campaign).map(({ who }) => who)],
    asks: asking.where,
    targetBranch: only,
  }
}

/** Without users of their own, experiments of a job that holds a token run as the user that holds it. */
function findOutsidersDenied(
  { isolation }: CampaignContext,
  { campaign, spec }: Pick<World, 'campaign' | 'spec'>,
): Pick<World, 'outsidersDenied'> {
  if (isolation === undefined) return {}
  const isNone = spec.measurement.isolation === 'none' || campaign.isolated[campaign.harness] === false
  if (isolation.asRoot && !isNone) return {}
  const why = 'this job has no users of their own for experiments, which could read its token'
  return { outsidersDenied: `${why}: it measures nothing of people without write access` }
}

/** Everything but the forge's ref, which the forge reads itself. */
async function fetchTips(place: CampaignContext, refs: ReadonlyMap<string, Oid>): Promise<void> {
  const wanted = [...refs].filter(([ref]) => ref !== place.refs.forge && ref.startsWith('refs/heads/'))
  await place.repository.fetch(wanted.map(([ref, oid]) => ({ ref, oid })))
}

async function readOptionalPoint(place: CampaignContext, oid: Oid | undefined): Promise<Point | null> {
  return oid === undefined ? null : { commit: oid, tree: (await place.repository.commit(oid)).tree }
}

/** Branches of experiments: winnow's own by their refs, other people's as their pull requests name them. */
function collectBranchTips(
  place: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
  pulls: readonly Pull[],
): Map<string, Oid> {
  const tips = new Map<string, Oid>()
  for (const pull of pulls) if (pull.state === 'open') tips.set(pull.branch, pull.head)
  for (const [ref, oid] of refs) if (ref.startsWith(place.refs.experiments)) tips.set(toShortRef(ref), oid)
  return tips
}
