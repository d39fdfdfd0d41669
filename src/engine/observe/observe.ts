import { UserError } from '../../errors.ts'
import type { RemoteTip } from '../../git/fetch.ts'
import type { Pull } from '../../github/pull.ts'
import { continueCampaign, loadCampaign, type LoadedCampaign } from '../../ledger/load.ts'
import type { Campaign } from '../../model/campaign.ts'
import { listPendingProposals } from '../../model/fold/proposers.ts'
import { type Oid, type Point, toShortRef } from '../../model/ids.ts'
import { isRestartDue } from '../../plan/stop.ts'
import type { World } from '../../plan/world.ts'
import { getCampaignSpec } from '../../spec/load.ts'
import {
  type CampaignContext,
  getWhereabouts,
  listDoneKeys,
  listRefs,
  type Memory,
} from '../campaign/context.ts'
import type { IdeaSource } from '../campaign/ideas.ts'
import { requireLedgerNotLost } from '../campaign/recover.ts'
import { Transaction } from '../controller/transaction.ts'
import type { JudgesReader } from '../jobs/judging-job.ts'
import { tryFetchCommit } from '../jobs/load-order.ts'
import type { ProposerTasks } from '../jobs/read-proposals.ts'
import type { Runner } from '../jobs/runner.ts'
import { findCandidates, findStackedExperiments, readReleaseDates } from './candidates.ts'
import {
  readAstrayFacts,
  readForeignFacts,
  readForeignLanding,
  readHoldoutFacts,
  readPickFacts,
  readRevertFacts,
} from './landing-facts.ts'
import { findCampaignPull, findStrangers, readCampaignPulls, withOwnComments } from './pulls.ts'
import { findManualMerge, findTipInProgress, readSyncFacts } from './sync.ts'

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
  const { place, memory, campaign, refs, pulls, defaultTip, runner, ideas, asking, targetBranch } = scene
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
  const outsiders = await findStrangers(place, campaign, pulls)
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
    targetBranch,
    branches,
    outsiders,
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
    ...(await ideas.find({ campaign, spec, defaultTip, branches, pulls, reverts, targetBranch })),
    outsiders,
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
    targetBranch,
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

type BranchSource = Pick<CampaignContext, 'repository' | 'local'>
type RecordedDefaultBranch = Pick<Campaign, 'default_branch' | 'default_tip'>

interface DefaultBranch {
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
