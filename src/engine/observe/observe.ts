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
  listRefs,
  type Memory,
  readPoint,
} from '../campaign/context.ts'
import type { IdeaSource } from '../campaign/ideas.ts'
import { requireLedgerNotLost } from '../campaign/recover.ts'
import { tryFetchCommit } from '../jobs/job-clone.ts'
import type { Runner } from '../jobs/runner.ts'
import { findCandidates, findStackedExperiments, readReleaseDates } from './candidates.ts'
import {
  readBranchMismatch,
  readForeignFacts,
  readForeignLanding,
  readHoldoutFacts,
  readPickFacts,
  readRevertFacts,
} from './landing-facts.ts'
import { readProbeFacts } from './probe-facts.ts'
import { findCampaignPull, findStrangers, readCampaignPulls, withOwnComments } from './pulls.ts'
import { findManualMerge, findTipInProgress, readSyncFacts } from './sync.ts'

export interface Observation {
  world: World
  loaded: LoadedCampaign
  refs: ReadonlyMap<string, Oid>
  pulls: Pull[]
  defaultBranch: string
  defaultTip: Point
}

export interface ControllerContext {
  context: CampaignContext
  memory: Memory
  runner: Runner
  ideas: IdeaSource
  /** Limits the observation to one idea's branch; null for every due idea. */
  targetBranch: string | null
  /** Runs commands from comments. Returns true when the ledger has changed. */
  runComments?: (observation: Observation) => Promise<boolean>
}

export async function observe(controller: ControllerContext): Promise<Observation | null> {
  const { context, memory } = controller
  const refs = await readRefs(controller)
  const state = refs.get(context.refs.state)
  if (state === undefined) {
    await requireLedgerNotLost(context, refs)
    return null
  }
  await fetchTips(context, refs)
  const loaded = memory.loaded
    ? await continueCampaign(context.repository, memory.loaded, state)
    : await loadCampaign(context.repository, state)
  memory.loaded = loaded
  const { campaign } = loaded
  await controller.runner.tidy(campaign)
  const pulls = await readCampaignPulls(context, campaign, { refs, turn: memory.turn })
  const { ref: defaultBranch, tip: defaultTip } = await findDefaultBranch(context, refs, campaign)
  const facts = await buildWorld({ ...controller, refs, campaign, pulls, defaultTip })
  const { tip, dispatches } = memory.refused
  const world = tip === loaded.tip.commit ? { ...facts, refusedDispatches: dispatches } : facts
  return { world, loaded, refs, pulls, defaultBranch, defaultTip }
}

async function readRefs({ context, memory }: ControllerContext): Promise<ReadonlyMap<string, Oid>> {
  if (memory.refs !== null) return memory.refs
  const { refs } = await listRefs(context)
  rememberRefs({ context, memory }, refs)
  return refs
}

/** The holdout may be a ref of the remote as well. */
export function rememberRefs(
  { context, memory }: Pick<ControllerContext, 'context' | 'memory'>,
  refs: ReadonlyMap<string, Oid>,
): void {
  memory.refs = refs
  memory.holdout = null
  memory.refsReadAt = context.clock.monotonic()
}

export async function predictWorld(
  controller: ControllerContext,
  { pulls, defaultTip }: Observation,
  predicted: Pick<ObservedCampaign, 'campaign' | 'refs'>,
): Promise<World> {
  return buildWorld({ ...controller, ...predicted, pulls, defaultTip })
}

/** A local merge ends a campaign only when the spec says so: on one machine people merge and continue. */
async function readMergedFacts(
  { forge, repository }: CampaignContext,
  { campaign, spec, defaultTip }: Pick<World, 'campaign' | 'spec' | 'defaultTip'>,
): Promise<Pick<World, 'merged'>> {
  if (forge !== null || !isRestartDue({ campaign, spec })) return {}
  if (!campaign.landings.some(({ reverted }) => reverted === null)) return {}
  return (await repository.isAncestor(campaign.incumbent.commit, defaultTip.commit)) ? { merged: true } : {}
}

interface ObservedCampaign extends ControllerContext {
  refs: ReadonlyMap<string, Oid>
  campaign: Campaign
  pulls: Pull[]
  defaultTip: Point
}

async function buildWorld(observed: ObservedCampaign): Promise<World> {
  const { context, memory, runner, ideas, targetBranch } = observed
  const { campaign, refs, pulls, defaultTip } = observed
  const { repository, clock, random } = context
  const spec = getCampaignSpec(campaign)
  // Read this before the answers: a proposer that answers in between is counted twice, but never lost.
  const { proposing, ...jobs } = await runner.facts(campaign)
  const optimize = refs.get(context.refs.optimize)
  const optimizeTip = optimize === undefined ? null : await readPoint(repository, optimize)
  const byHand = await findManualMerge(repository, campaign, { optimizeTip, defaultTip })
  const { forge } = context
  const isPrivate = forge === null ? undefined : () => forge.isPrivate()
  const request = { repository, campaign, spec, defaultTip, where: getWhereabouts(forge), isPrivate }
  const due = byHand ?? { defaultTip: await findTipInProgress(repository, campaign, defaultTip) }
  const sync = await readSyncFacts({ ...request, ...due })
  const branches = collectBranchTips(context, refs, pulls)
  const outsiders = await findStrangers(context, campaign, pulls)
  const reverts = await readRevertFacts(repository, campaign)
  const picks = await readPickFacts({ repository, memory, campaign })
  const found = await ideas.find({ campaign, spec, defaultTip, branches, pulls, reverts, targetBranch })
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
    campaignTip: refs.get(context.refs.campaign) ?? null,
    defaultTip,
    pulls: pulls.map(withOwnComments),
    hasPublicPulls: forge !== null,
    ...findCampaignPull(context, campaign, pulls),
    ...(await readMergedFacts(context, { campaign, spec, defaultTip })),
    branches,
    ...jobs,
    ...found,
    answers: [...found.answers, ...jobs.answers],
    outsiders,
    ...findOutsidersDenied(context, { campaign, spec }),
    stacked: await findStackedExperiments(repository, memory, campaign),
    candidates,
    picks,
    releases: await readReleaseDates(context, memory, { campaign, spec, now, candidates }),
    sync,
    foreign: await readForeignFacts(repository, campaign, spec, optimizeTip),
    branchMismatch: await readBranchMismatch(repository, campaign, { optimizeTip, defaultTip }),
    ...(await readForeignLanding(repository, campaign, optimizeTip)),
    holdout: await readHoldoutFacts(repository, memory, campaign, spec),
    probes: await readProbeFacts(repository, { campaign, spec, runner }),
    reverts,
    runner: {
      runId: runner.runId,
      machine: runner.machine,
      external: spec.propose.some(({ use }) => use === 'external'),
    },
    askable: ideas.listProposers(campaign, spec),
    asking: [...proposing, ...listPendingProposals(campaign).map(({ who }) => who)],
    asks: runner.asks,
    targetBranch,
  }
}

/** Without separate users for experiments, their code could read the token of this job. */
function findOutsidersDenied(
  { isolation }: CampaignContext,
  { campaign, spec }: Pick<World, 'campaign' | 'spec'>,
): Pick<World, 'outsidersDenied'> {
  if (isolation === undefined) return {}
  const isNone = spec.measurement.isolation === 'none' || campaign.isolated[campaign.harness] === false
  if (isolation.asRoot && !isNone) return {}
  const why = 'this job has no separate users for experiments, so an experiment could read its token'
  return { outsidersDenied: `${why}: it measures no code of people without write access` }
}

async function fetchTips(context: CampaignContext, refs: ReadonlyMap<string, Oid>): Promise<void> {
  const wanted = [...refs].filter(([ref]) => ref.startsWith('refs/heads/'))
  await context.repository.fetch(wanted.map(([ref, oid]) => ({ ref, oid })))
}

/** Tips of experiment branches: winnow's own from refs, other people's from their pull requests. */
function collectBranchTips(
  context: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
  pulls: readonly Pull[],
): Map<string, Oid> {
  const tips = new Map<string, Oid>()
  for (const pull of pulls) if (pull.state === 'open') tips.set(pull.branch, pull.head)
  for (const [ref, oid] of refs) if (ref.startsWith(context.refs.experiments)) tips.set(toShortRef(ref), oid)
  return tips
}

type BranchSource = Pick<CampaignContext, 'repository' | 'local'>
type RecordedDefaultBranch = Pick<Campaign, 'default_branch' | 'default_tip'>

interface DefaultBranch {
  ref: string
  tip: Point
}

/** When the recorded branch is gone: the default branch, if it contains the last merged tip. */
export async function findDefaultBranch(
  source: BranchSource,
  refs: ReadonlyMap<string, Oid>,
  campaign: RecordedDefaultBranch,
): Promise<DefaultBranch> {
  const { default_branch: ref } = campaign
  const oid = refs.get(ref) ?? (await source.repository.remoteRefs([ref])).refs.get(ref)
  if (oid !== undefined) return readBranchPoint(source, { ref, oid })
  const renamed = await findRenamedBranch(source, campaign)
  if (renamed !== null) return renamed
  const where = source.local ? 'this repository' : 'the remote'
  throw new UserError(`the default branch ${toShortRef(ref)} is not in ${where}`, {
    fix: `push it again under that name, or start fresh on the branch that replaced it: winnow run --fresh`,
  })
}

async function readBranchPoint(
  { repository }: BranchSource,
  { ref, oid }: RemoteTip,
): Promise<DefaultBranch> {
  if (!(await repository.has(oid))) await repository.fetch([{ ref, oid }])
  return { ref, tip: await readPoint(repository, oid) }
}

/** Without a remote, HEAD is the branch that is checked out and does not name the default branch. */
async function findRenamedBranch(
  source: BranchSource,
  { default_branch, default_tip }: RecordedDefaultBranch,
): Promise<DefaultBranch | null> {
  if (source.local) return null
  const { repository } = source
  const { head } = await repository.remoteRefs([])
  if (head === null || head === default_branch) return null
  const oid = (await repository.remoteRefs([head])).refs.get(head)
  if (oid === undefined) return null
  const found = await readBranchPoint(source, { ref: head, oid })
  const here = await tryFetchCommit(repository, default_tip)
  return here && (await repository.isAncestor(default_tip, oid)) ? found : null
}
