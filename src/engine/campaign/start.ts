import { posix } from 'node:path'
import { RULE_VERSION } from '../../decide/assessment.ts'
import { UserError } from '../../errors.ts'
import type { Repository } from '../../git/repository.ts'
import { listTreeFiles, readTreeFile } from '../../git/tree.ts'
import { readIdeaList } from '../../ideas/idea-block.ts'
import { buildIdeasPath } from '../../ideas/prior-results.ts'
import { loadCampaign, type LoadedCampaign } from '../../ledger/load.ts'
import { isLedger, readTip } from '../../ledger/read-events.ts'
import { type Campaign, createEmptyCampaign } from '../../model/campaign.ts'
import { type Oid, type Point, toShortRef } from '../../model/ids.ts'
import { getParseOptions, type ParsedSpecFile, parseSpec } from '../../spec/load.ts'
import { type CampaignLocation, listPlannedFeatures } from '../../spec/planned-features.ts'
import type { Spec } from '../../spec/schema.ts'
import { compileScope } from '../../spec/scope.ts'
import { findTodoLine, HARNESS_TODO } from '../../spec/spec-facts.ts'
import { Transaction, type TransactionBase } from '../controller/transaction.ts'
import { fetchCommit } from '../jobs/job-clone.ts'
import { computeTreeHarness } from '../observe/sync.ts'
import {
  type CampaignContext,
  isAway,
  getHost,
  getWhereabouts,
  listRefs,
  readPoint,
  requireSameBranches,
} from './context.ts'
import { requireHiddenPaths } from './hidden-paths.ts'
import { requireLedger, requireLedgerNotLost, requirePushed } from './recover.ts'

interface DefaultBranchSpec extends ParsedSpecFile {
  path: string
  yaml: string
  tip: Point
}

/** Reads the spec from the default branch, never from a work tree. */
export async function readCommittedSpec(context: CampaignContext, path: string): Promise<DefaultBranchSpec> {
  const { repository, defaultBranch } = context
  const { refs } = await repository.remoteRefs([defaultBranch])
  const oid = refs.get(defaultBranch)
  const where = context.local ? toShortRef(defaultBranch) : `${toShortRef(defaultBranch)} of the remote`
  if (oid === undefined) throw new UserError(`${where} has no commits`, { fix: 'commit (and push) first' })
  await repository.fetch([{ ref: defaultBranch, oid }])
  const tip = await readPoint(repository, oid)
  const yaml = await readTreeFile(repository, tip.tree, path)
  if (yaml === null) {
    const fix = context.local
      ? `commit ${path} to ${toShortRef(defaultBranch)}`
      : `commit ${path} and push it`
    throw new UserError(`${path} is not on ${where}`, { place: { file: path }, fix })
  }
  const parsed = parseSpec(yaml, { file: path, host: getHost(context) })
  await requireOwnWorkload(repository, tip.tree, parsed.spec)
  await requireHiddenPaths(repository, { spec: parsed.spec, file: path }, tip.tree)
  return { ...parsed, path, yaml, tip }
}

export function requireSupportedSpec(
  { spec, path }: Pick<DefaultBranchSpec, 'spec' | 'path'>,
  where: CampaignLocation,
): void {
  const missing = listPlannedFeatures(spec, where)
  if (missing.length > 0) {
    throw new UserError(missing.join('\n'), {
      place: { file: path },
      fix: 'remove or change the settings named above',
    })
  }
}

export function requireStartable(committed: DefaultBranchSpec, context: CampaignContext): void {
  requireSupportedSpec(committed, getWhereabouts(context.forge))
  requireSameBranches(context, committed.spec, committed.path)
}

/** One push writes the first event, the optimize branch and the ledger, so only one of two processes wins. */
export async function startCampaign(
  context: CampaignContext,
  committed: DefaultBranchSpec,
  options: { fresh: boolean; insteadOf?: Oid | null },
): Promise<'started' | 'exists'> {
  requireStartable(committed, context)
  const { refs } = await listRefs(context)
  const state = refs.get(context.refs.state)
  if (state !== undefined && !options.fresh) return 'exists'
  await requireLedgerNotLost(context, refs)
  // Another process has already archived that campaign.
  if (options.insteadOf !== undefined && state !== options.insteadOf) return 'exists'
  const { firstNumber, optimizeTips } = await readArchives(context, state)
  requireOwnOptimizeBranch(context, refs, optimizeTips)
  const loaded = await loadNothing(context)
  // Asked before the events get their time, which then is GitHub's.
  const isPrivate = await context.forge?.isPrivate()
  const transaction = new Transaction(context, { loaded, refs })
  if (state !== undefined)
    for (const { ref, to } of (await planArchive(context, refs)).moves) transaction.move(ref, to)
  await addStartEvents(transaction, committed, { firstNumber, isPrivate })
  transaction.move(context.refs.optimize, committed.tip.commit)
  requirePushed(await transaction.push(), { failed: 'the campaign could not be started' })
  return 'started'
}

/** Refuses an optimize branch that no campaign of winnow left there. */
function requireOwnOptimizeBranch(
  context: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
  archived: ReadonlySet<Oid>,
): void {
  const optimize = refs.get(context.refs.optimize)
  if (optimize === undefined || refs.has(context.refs.state) || archived.has(optimize)) return
  throw new UserError(
    `${toShortRef(context.refs.optimize)} exists without the ledger branch ${toShortRef(context.refs.state)}`,
    {
      fix: `if a campaign ran here, restore its ledger branch: winnow recover, on the machine on which it ran last. Otherwise rename the branch, or choose another branches.prefix in the spec`,
    },
  )
}

async function loadNothing(context: CampaignContext): Promise<LoadedCampaign> {
  const tip = await readTip(context.repository, null)
  return { campaign: createEmptyCampaign(), tip, lastSha: '', checkpointSeq: 0, checkpointIgnored: null }
}

async function addStartEvents(
  transaction: Transaction,
  committed: DefaultBranchSpec,
  { firstNumber, isPrivate }: { firstNumber: number; isPrivate: boolean | undefined },
): Promise<void> {
  const { repository, defaultBranch, name, version } = transaction.context
  const { spec, sha256, yaml, tip, path } = committed
  transaction.addEvent({
    kind: 'campaign-started',
    cause: tip.commit,
    spec: name,
    spec_path: path,
    spec_sha256: sha256,
    spec_yaml: yaml,
    rule_version: RULE_VERSION,
    default_branch: defaultBranch,
    object_format: repository.objectFormat,
    start: tip,
    harness: await computeTreeHarness(repository, spec, tip.tree),
    first_number: firstNumber,
    winnow: version,
    host: getHost(transaction.context),
    ...(isPrivate === undefined ? {} : { private_repository: isPrivate }),
  })
  await addCommittedIdeas(transaction, tip, firstNumber)
}

/** Ideas that are committed beside the spec open the backlog of the first campaign. */
async function addCommittedIdeas(transaction: Transaction, tip: Point, firstNumber: number): Promise<void> {
  const { context } = transaction
  const path = buildIdeasPath(context.name)
  const text = await readTreeFile(context.repository, tip.tree, path)
  if (text === null) return
  // A later campaign would try the ideas of the first one again.
  if (firstNumber > 1)
    return context.progress.say(`${path} is for the first campaign; winnow idea import adds its ideas`)
  for (const idea of readIdeaList(text, path))
    transaction.addEvent({ kind: 'hypothesis-added', cause: tip.commit, ...idea, source: path })
}

export async function applyAmendment(
  context: CampaignContext,
  change: { yaml: string; reason: string },
): Promise<{ measuredAnew: boolean }> {
  const { repository } = context
  const { refs } = await listRefs(context)
  const state = await requireLedger(context, refs)
  await repository.fetch([{ ref: context.refs.state, oid: state }])
  const loaded = await loadCampaign(repository, state)
  const { campaign } = loaded
  const parsed = parseSpec(change.yaml, getParseOptions(campaign))
  // The features that a spec may use depend on where the campaign lives.
  const isOnGithub = campaign.host === 'github' && isAway(context, campaign)
  const where = isOnGithub ? 'github' : getWhereabouts(context.forge)
  requireSupportedSpec({ ...parsed, path: campaign.spec_path }, where)
  requireSameBranches(context, parsed.spec, campaign.spec_path)
  if (parsed.sha256 === campaign.spec_sha256) throw new UserError('this spec is already in force')
  // A fresh clone may lack both commits.
  for (const { commit } of [campaign.pin, campaign.incumbent]) await fetchCommit(repository, commit)
  await requireInScope(context, campaign, parsed.spec)
  const own = { spec: parsed.spec, file: campaign.spec_path }
  await requireHiddenPaths(repository, own, campaign.incumbent.tree)
  const harness = await computeTreeHarness(repository, parsed.spec, campaign.pin.tree)
  const measuredAnew = harness !== campaign.harness
  const transaction = new Transaction(context, { loaded, refs })
  transaction.addEvent({
    kind: 'campaign-amended',
    cause: `amend at ${campaign.seq}`,
    spec_sha256: parsed.sha256,
    spec_yaml: change.yaml,
    harness,
    source: 'person',
    reason: change.reason,
  })
  requirePushed(await transaction.push(), {
    lost: 'another process changed the campaign during the amendment',
    failed: 'the amendment could not be written',
  })
  return { measuredAnew }
}

/** Records a renamed default branch before any plan uses the name. Returns false when it was not renamed. */
export async function recordRename(
  context: CampaignContext,
  base: TransactionBase,
  to: string,
): Promise<boolean> {
  const { default_branch: from, spec_sha256, spec_yaml, harness, seq } = base.loaded.campaign
  if (from === to) return false
  const transaction = new Transaction(context, base)
  const reason = `${toShortRef(from)} was renamed to ${toShortRef(to)}`
  transaction.addEvent({
    kind: 'campaign-amended',
    cause: `renamed ${from} to ${to} at ${seq}`,
    spec_sha256,
    spec_yaml,
    harness,
    source: 'person',
    reason,
    default_branch: to,
  })
  const failed = `${reason}, and that could not be recorded in the ledger`
  requirePushed(await transaction.push(), { failed })
  return true
}

/** Invariant 4: outside `mutable` the incumbent equals the pin, so landed paths have to stay mutable. */
async function requireInScope(
  { repository }: CampaignContext,
  campaign: Campaign,
  spec: Spec,
): Promise<void> {
  const { isMutable } = compileScope(spec)
  const changes = await repository.diff(campaign.pin.tree, campaign.incumbent.tree)
  const outside = changes.find(({ path }) => !isMutable(path))
  if (!outside) return
  throw new UserError(
    `${outside.path} was changed by a kept change, and the new spec no longer allows changes to it`,
    {
      place: { file: campaign.spec_path, path: 'scope.mutable' },
      fix: 'keep it in scope.mutable, or start fresh: winnow run --fresh',
    },
  )
}

interface ArchivePlan {
  at: string
  moves: { ref: string; to: Oid | null }[]
}

/** The optimize branch is never deleted: it stays until the next campaign moves it. */
async function planArchive(context: CampaignContext, refs: ReadonlyMap<string, Oid>): Promise<ArchivePlan> {
  const at = new Date(context.clock.now()).toISOString().replace(/[:.]/g, '-')
  const moves: ArchivePlan['moves'] = []
  for (const role of ['optimize', 'state', 'closed'] as const) {
    const oid = refs.get(context.refs[role])
    if (oid === undefined) continue
    moves.push({ ref: `${context.refs.archive}${at}/${role}`, to: oid })
    if (role !== 'optimize') moves.push({ ref: context.refs[role], to: null })
  }
  if (refs.has(context.refs.campaign)) moves.push({ ref: context.refs.campaign, to: null })
  for (const ref of await listMeasuredBranches(context, refs)) moves.push({ ref, to: null })
  return { at, moves }
}

/** Without pull requests the next campaign would take these branches for new ideas. */
async function listMeasuredBranches(
  { forge, repository, refs: own }: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
): Promise<string[]> {
  const oid = refs.get(own.state)
  if (forge !== null || oid === undefined) return []
  await repository.fetch([{ ref: own.state, oid }])
  const { campaign } = await loadCampaign(repository, oid)
  return Object.values(campaign.experiments).flatMap(({ branch, head, closed, verdict }) => {
    const ref = `refs/heads/${branch}`
    const isMeasured = closed && verdict !== null && verdict !== 'refused'
    return isMeasured && refs.get(ref) === head ? [ref] : []
  })
}

export async function archiveCampaign(
  context: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
): Promise<string> {
  if (!refs.has(context.refs.state)) throw new UserError(`there is no campaign ${context.name} to archive`)
  const { at, moves } = await planArchive(context, refs)
  // Another machine may have written the latest commits.
  const kept = new Set(moves.flatMap(({ to }) => to ?? []))
  await context.repository.fetch([...refs].flatMap(([ref, oid]) => (kept.has(oid) ? [{ ref, oid }] : [])))
  const updates = moves.map(({ ref, to }) => ({ ref, from: refs.get(ref) ?? null, to }))
  requirePushed(await context.repository.push(updates), {
    lost: 'another process changed the campaign while winnow archived it',
    failed: 'the campaign could not be archived',
  })
  return at
}

interface ArchivedCampaigns {
  /** Numbers continue above every archive, so that a name never means two experiments. */
  firstNumber: number
  optimizeTips: Set<Oid>
}

async function readArchives(context: CampaignContext, current: Oid | undefined): Promise<ArchivedCampaigns> {
  const { refs } = await context.repository.remoteRefs([`${context.refs.archive}*`])
  const states = [...refs].filter(([ref]) => ref.endsWith('/state'))
  if (current !== undefined) states.push([context.refs.state, current])
  let firstNumber = 1
  for (const [ref, oid] of states) {
    await context.repository.fetch([{ ref, oid }])
    if (ref !== context.refs.state && !(await isLedger(context.repository, oid))) {
      context.progress.say(`${toShortRef(ref)} is not a ledger of winnow, so winnow leaves it alone.`)
      continue
    }
    firstNumber = Math.max(firstNumber, (await loadCampaign(context.repository, oid)).campaign.next_number)
  }
  const optimizeTips = new Set([...refs].flatMap(([ref, oid]) => (ref.endsWith('/optimize') ? [oid] : [])))
  return { firstNumber, optimizeTips }
}

type BlobReader = Pick<Repository, 'tree' | 'blob'>

const MOST_FILES = 200

/** A line that `winnow init` left for the person's own workload. */
interface StandIn {
  file: string
  line: number
}

/** Finds placeholder workloads in files below `bench/` and in files that the command names. */
export async function findStandIns(repository: BlobReader, tree: Oid, spec: Spec): Promise<StandIn[]> {
  const { working_directory: directory, command } = spec.measurement
  const resolvePath = (path: string) => posix.normalize(posix.join(directory, path))
  const named = new Set(command.split(/[\s;&|"'()]+/).map(resolvePath))
  const files = (await listTreeFiles(repository, tree)).filter(
    ({ path, mode }) => mode.startsWith('100') && (path.startsWith(resolvePath('bench/')) || named.has(path)),
  )
  const found: StandIn[] = []
  for (const { path, oid } of files.slice(0, MOST_FILES)) {
    const line = findTodoLine((await repository.blob(oid)).toString('utf8'))
    if (line !== null) found.push({ file: path, line })
  }
  return found
}

export function formatStandInText({ file, line }: StandIn): string {
  return `${file}:${line}: the workload is a placeholder; replace it with your own, and delete the line with ${HARNESS_TODO}`
}

/** Refuses to optimise a placeholder, whose numbers mean nothing. */
async function requireOwnWorkload(repository: BlobReader, tree: Oid, spec: Spec): Promise<void> {
  const [first] = await findStandIns(repository, tree, spec)
  if (first === undefined) return
  throw new UserError('the harness measures a placeholder that winnow init wrote', {
    place: { file: first.file, line: first.line },
    fix: `replace it with your own workload, delete the line with ${HARNESS_TODO}, and commit`,
  })
}
