import { isManifest } from '../decide/packages.ts'
import { formatCount } from '../decide/wording.ts'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import { readCandidateFacts } from '../engine/observe/candidate-facts.ts'
import { UserError } from '../errors.ts'
import type { DiffEntry } from '../git/diff.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import type { Repository } from '../git/repository.ts'
import { createGitRunner } from '../git/runner.ts'
import { readWorkTree } from '../git/work-tree.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { buildCampaignRefs, type Oid, toShortRef } from '../model/ids.ts'
import { toOneLine } from '../model/text.ts'
import type { World } from '../plan/world.ts'
import { describeConflictStep } from '../report/try-answer.ts'
import type { Spec } from '../spec/schema.ts'
import { compileScope } from '../spec/scope.ts'

/** The person's change as one commit: HEAD itself, or the work tree on top of it. */
export interface OwnDiff {
  head: Oid
  commit: Oid
  tree: Oid
  hypothesis: string
  /** Uncommitted files in scope; empty if HEAD itself is the idea. */
  uncommitted: string[]
  addsFiles: boolean
  /** Files in the work tree that are not part of the change. */
  leftOut: string[]
}

export interface RefusedTry {
  code: string
  message: string
  next: string
}

export type DiffState =
  | { is: 'new'; diff: OwnDiff }
  /** An experiment, open or ended, already has these files. */
  | { is: 'known'; experiment: Experiment }
  | ({ is: 'refused' } & RefusedTry)

type TryRepository = RepositoryContext['repository']

interface DiffRequest {
  repositoryContext: RepositoryContext
  env: Readonly<Record<string, string>>
  spec: Spec
  message: string | undefined
  onlyInScope: boolean
}

interface WorkTreeDiff {
  head: Oid
  base: Oid
  tree: Oid
  inside: readonly DiffEntry[]
  leftOut: string[]
}

/** Reads only: no file, index or ref of the person changes (invariant 12). */
export async function readOwnDiff(request: DiffRequest): Promise<OwnDiff | RefusedTry> {
  const { repositoryContext, env, spec, onlyInScope } = request
  const { repository, checkout } = repositoryContext
  const topLevel = requireTopLevel(checkout.topLevel)
  const head = await resolveHead(topLevel, env)
  await repository.fetchFrom(checkout.commonDir, head)
  const { isMutable } = compileScope(spec)
  const read = await readWorkTree({ into: repository.dir, topLevel, head, env, takes: isMutable })
  if ('unmerged' in read) return refuseUnresolved(read.unmerged)
  const { tree: base } = await repository.commit(head)
  const entries = await repository.diff(base, read.tree)
  const outside = entries.filter(({ path }) => !isMutable(path)).map(({ path }) => path)
  if (outside.length > 0 && !onlyInScope) return refuseOutsideScope(outside)
  const inside = entries.filter(({ path }) => isMutable(path))
  const tree =
    outside.length === 0 ? read.tree : await repository.replaceEntries(base, inside.map(toTreeChange))
  return commitDiff(request, { head, base, tree, inside, leftOut: [...outside, ...read.leftOut] })
}

/** Uses the date of HEAD, so that trying the same files again gives the same commit. */
async function commitDiff(
  { repositoryContext: { repository }, message }: DiffRequest,
  { head, base, tree, inside, leftOut }: WorkTreeDiff,
): Promise<OwnDiff> {
  const { committer, message: subject } = await repository.commit(head)
  const uncommitted = tree === base ? [] : inside.map(({ path }) => path)
  const fallback =
    tree === base ? (subject.split('\n', 1)[0] ?? '') : `change ${formatSomePaths(uncommitted)}`
  const hypothesis = toOneLine(message ?? fallback, 300)
  if (hypothesis === '')
    throw new UserError('the idea has no description', {
      fix: 'winnow try -m "what it does, and why it helps"',
    })
  const made = { tree, parents: [head], message: hypothesis, date: committer.date }
  const commit = tree === base ? head : await repository.writeCommit(made)
  const addsFiles = inside.some(({ status }) => status === 'A')
  return { head, commit, tree, hypothesis, uncommitted, addsFiles, leftOut }
}

function requireTopLevel(topLevel: string | null): string {
  if (topLevel !== null) return topLevel
  throw new UserError('a bare repository has no work tree to try', {
    fix: 'run winnow try in a clone, or offer a commit: winnow propose <commit>',
  })
}

async function resolveHead(topLevel: string, env: DiffRequest['env']): Promise<Oid> {
  const { exitCode, stdout } = await createGitRunner(buildLocalIsolation(topLevel, env)).run({
    args: ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'],
    answers: [1, 128],
    parse: output => output,
  })
  if (exitCode === 0) return stdout.trim()
  throw new UserError('this branch has no commits yet', { fix: 'commit the project first' })
}

function toTreeChange({ path, newMode, newOid }: DiffEntry) {
  return { path, entry: newMode === null || newOid === null ? null : { mode: newMode, oid: newOid } }
}

function refuseUnresolved(paths: readonly string[]): RefusedTry {
  return {
    code: 'conflict',
    message: `a merge is not finished: conflict in ${formatSomePaths(paths)}`,
    next: 'resolve it, then repeat the command',
  }
}

function refuseOutsideScope(paths: readonly string[]): RefusedTry {
  const message = `${formatCount(paths.length, 'changed file')} outside scope.mutable: ${formatSomePaths(paths)}`
  const next = `undo the changes outside the scope or commit them elsewhere, or ignore them: winnow try --only-in-scope`
  return { code: 'out-of-scope', message, next: paths.every(isManifest) ? describePackageStep(paths) : next }
}

/** Drafted scopes contain no manifest. */
function describePackageStep(paths: readonly string[]): string {
  return `leave it out (winnow try --only-in-scope), or a person lets ideas bring packages: add ${formatSomePaths(paths)} to scope.mutable and commit that`
}

function formatSomePaths(paths: readonly string[]): string {
  const more = paths.length - 3
  return `${paths.slice(0, 3).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

// Classifying a change

/** Continues the experiment of a repeated command (invariant 7). Never measures a change twice. */
export async function classifyDiff(
  repository: TryRepository,
  world: World,
  diff: OwnDiff,
): Promise<DiffState> {
  const state = await classifyGivenDiff(repository, world, diff)
  if (state.is !== 'refused' || state.code !== 'conflict') return state
  const continued = await findContinuedDiff(repository, world.campaign, diff)
  return continued === null ? state : classifyGivenDiff(repository, world, continued)
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
    return { is: 'refused', code: 'reverted', message, next: 'make the change again on top of the incumbent' }
  }
  if (facts.refusal) return { is: 'refused', ...facts.refusal, next: 'fix that, then repeat the command' }
  const sameTree = campaign.experiments[campaign.trees[facts.tree] ?? '']
  return sameTree ? { is: 'known', experiment: sameTree } : { is: 'new', diff }
}

/** Compares with the default branch that the campaign will sync next. */
async function classifyCommittedDiff(
  repository: TryRepository,
  world: World,
  diff: OwnDiff,
): Promise<DiffState> {
  const known = await isAlreadyCommitted(repository, diff, world.defaultTip.commit)
  return known ? describeNothingToTry(world.campaign.name) : { is: 'new', diff }
}

/** True if the change is only commits of the default branch, which are the base and not an idea. */
export async function isAlreadyCommitted(
  repository: TryRepository,
  { commit, head }: OwnDiff,
  tip: Oid,
): Promise<boolean> {
  return commit === head && (await repository.isAncestor(head, tip))
}

/** HEAD already contains the kept changes, and nothing changed since. */
async function hasTakenKept(repository: TryRepository, { campaign }: World, { commit, head }: OwnDiff) {
  return commit === head && (await repository.isAncestor(campaign.incumbent.commit, head))
}

/** The campaign already contains the same change from another idea. */
function describeNothingNew({ campaign, spec }: World, { uncommitted }: OwnDiff): DiffState {
  if (uncommitted.length === 0) return describeNothingToTry(campaign.name)
  const optimize = toShortRef(buildCampaignRefs(spec.branches.prefix, campaign.name).optimize)
  const message = `nothing to try: ${optimize} already contains this change`
  return { is: 'refused', code: 'empty', message, next: `start the next idea from ${optimize}` }
}

export function describeNothingToTry(campaign: string): Extract<DiffState, { is: 'refused' }> {
  const message = `nothing to try: no file in scope differs from the incumbent of campaign ${campaign}`
  return { is: 'refused', code: 'empty', message, next: 'edit a file in scope, then repeat the command' }
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

/** A head that was refused before measuring may be missing in the repository. */
async function readKnownTree(repository: TryRepository, commit: Oid): Promise<Oid | null> {
  return (await repository.has(commit)) ? (await repository.commit(commit)).tree : null
}

/**
 * After a kept change, people often continue on a HEAD without the landing. Creates a commit that also has the
 * landed head as a parent. Returns null if none of the person's changes landed.
 */
async function findContinuedDiff(
  repository: Repository,
  { landings }: Pick<Campaign, 'landings'>,
  diff: OwnDiff,
): Promise<OwnDiff | null> {
  const { head, tree, hypothesis } = diff
  const own = await repository.commit(head)
  for (const landing of landings.toReversed()) {
    if (landing.reverted !== null || !(await repository.has(landing.head))) continue
    const landed = await repository.commit(landing.head)
    if (landed.tree !== own.tree && !landed.parents.includes(head)) continue
    const { date } = own.committer
    const parents = [head, landing.head]
    return { ...diff, commit: await repository.writeCommit({ tree, parents, message: hypothesis, date }) }
  }
  return null
}
