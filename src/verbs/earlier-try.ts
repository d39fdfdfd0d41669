import type { RepositoryContext } from '../engine/open.ts'
import { readCandidateFacts } from '../engine/facts/candidate.ts'
import type { Experiment } from '../model/experiment.ts'
import type { Oid } from '../model/ids.ts'
import { buildCampaignRefs, toShortRef } from '../model/refs.ts'
import type { World } from '../plan/world.ts'
import { describeConflictStep } from '../report/try-answer.ts'
import { findContinuedDiff } from './continued-diff.ts'
import type { RefusedTry, OwnDiff } from './own-diff.ts'

/** What a diff is to the campaign: new, known, or nothing that could be measured. */
export type DiffState =
  | { is: 'new'; diff: OwnDiff }
  /** The same files are an experiment already; whether it has ended says the experiment. */
  | { is: 'known'; experiment: Experiment }
  | ({ is: 'refused' } & RefusedTry)

type TryRepository = RepositoryContext['repository']

/**
 * Killed and typed again, a diff goes on as the experiment it became (invariant 7); and what was measured once is
 * never measured again in the hope of another answer.
 */
export async function classifyDiff(
  repository: TryRepository,
  world: World,
  diff: OwnDiff,
): Promise<DiffState> {
  const standing = await classifyGivenDiff(repository, world, diff)
  if (standing.is !== 'refused' || standing.code !== 'conflict') return standing
  const continued = await findContinuedDiff(repository, world.campaign, diff)
  return continued === null ? standing : classifyGivenDiff(repository, world, continued)
}

async function classifyGivenDiff(repository: TryRepository, world: World, diff: OwnDiff): Promise<DiffState> {
  const { campaign, spec } = world
  const all = Object.values(campaign.experiments)
  const open = await findSameFiles(
    repository,
    all.filter(({ status }) => status !== 'ended'),
    diff,
  )
  if (open) return { is: 'known', experiment: open }
  const { incumbent } = campaign
  const unsynced = world.sync === null ? null : world.defaultTip.commit
  const facts = await readCandidateFacts({
    repository,
    campaign,
    spec,
    incumbent,
    head: diff.commit,
    unsynced,
  })
  if (facts.merged === 'conflict') return describeConflict(world, facts.paths)
  if (facts.aheadOfSync) return classifyCommittedDiff(repository, world, diff)
  if (facts.refusal?.code === 'empty') {
    const landed = await findSameFiles(repository, listLandedExperiments(world), diff)
    const known = landed !== null && !(await hasTakenKept(repository, world, diff))
    return known ? { is: 'known', experiment: landed } : describeNothingNew(world, diff)
  }
  if (facts.contains !== null) {
    const message = `contains ${facts.contains}, which was reverted`
    return { is: 'refused', code: 'reverted', message, next: 'commit the change again on the incumbent' }
  }
  if (facts.refusal) return { is: 'refused', ...facts.refusal, next: 'mend that, then type the same again' }
  const twin = campaign.experiments[campaign.trees[facts.tree] ?? '']
  return twin ? { is: 'known', experiment: twin } : { is: 'new', diff }
}

/** Against the default branch as it will be once the campaign has taken it in. */
async function classifyCommittedDiff(
  repository: TryRepository,
  world: World,
  diff: OwnDiff,
): Promise<DiffState> {
  const known = await isAlreadyCommitted(repository, diff, world.defaultTip.commit)
  return known ? describeNothingToTry(world.campaign.name) : { is: 'new', diff }
}

/** Nothing but commits that the default branch has: those are the base, and no idea. */
export async function isAlreadyCommitted(
  repository: TryRepository,
  { commit, head }: OwnDiff,
  tip: Oid,
): Promise<boolean> {
  return commit === head && (await repository.isAncestor(head, tip))
}

/** What was kept is in HEAD already, and nothing is changed since. */
async function hasTakenKept(repository: TryRepository, { campaign }: World, { commit, head }: OwnDiff) {
  return commit === head && (await repository.isAncestor(campaign.incumbent.commit, head))
}

/** There is a diff, and somebody else's brought the same. */
function describeNothingNew({ campaign, spec }: World, { uncommitted }: OwnDiff): DiffState {
  if (uncommitted.length === 0) return describeNothingToTry(campaign.name)
  const optimize = toShortRef(buildCampaignRefs(spec.branches.prefix, campaign.name).optimize)
  const message = `nothing to try: ${optimize} has all of this already`
  return { is: 'refused', code: 'empty', message, next: `start the next idea from ${optimize}` }
}

export function describeNothingToTry(campaign: string): Extract<DiffState, { is: 'refused' }> {
  const message = `nothing to try: no file in scope differs from what campaign ${campaign} has`
  return { is: 'refused', code: 'empty', message, next: 'edit a file in scope, then type the same again' }
}

function describeConflict({ campaign, spec }: World, paths: readonly string[]): DiffState {
  const message = `does not merge with the incumbent: conflict in ${paths.slice(0, 5).join(', ')}`
  const optimize = toShortRef(buildCampaignRefs(spec.branches.prefix, campaign.name).optimize)
  return { is: 'refused', code: 'conflict', message, next: describeConflictStep(optimize) }
}

function listLandedExperiments({ campaign }: World): Experiment[] {
  const landed = campaign.landings.filter(({ reverted }) => reverted === null)
  return landed.flatMap(({ experiment }) => campaign.experiments[experiment] ?? [])
}

async function findSameFiles(
  repository: TryRepository,
  experiments: readonly Experiment[],
  { tree }: OwnDiff,
): Promise<Experiment | null> {
  for (const experiment of experiments.toReversed())
    if (experiment.head !== null && (await readKnownTree(repository, experiment.head)) === tree)
      return experiment
  return null
}

/** A head refused before it was measured may be held by nobody. */
async function readKnownTree(repository: TryRepository, commit: Oid): Promise<Oid | null> {
  return (await repository.has(commit)) ? (await repository.commit(commit)).tree : null
}
