import { UserError } from '../errors.ts'
import { RULE_VERSION } from '../decide/version.ts'
import type { LoadedCampaign } from '../ledger/load.ts'
import { readTip } from '../ledger/tip.ts'
import { createEmptyCampaign } from '../model/campaign.ts'
import type { Oid, Point } from '../model/ids.ts'
import { toShortRef } from '../model/refs.ts'
import { parseSpec, type ParsedSpecFile } from '../spec/parse.ts'
import type { CampaignLocation } from '../spec/unread-keys.ts'
import { listPlannedFeatures } from '../spec/unsupported.ts'
import { readArchives, planArchive } from './archive.ts'
import { computeTreeHarness } from './facts/harness.ts'
import { listRefs } from './listed-refs.ts'
import { type CampaignContext, getWhereabouts } from './place.ts'
import { requireLedgerNotLost } from './recover.ts'
import { requireSameBranches } from './same-branches.ts'
import { requireOwnWorkload } from './stand-ins.ts'
import { Transaction } from './transaction.ts'

export interface DefaultBranchSpec extends ParsedSpecFile {
  path: string
  yaml: string
  tip: Point
}

/** The spec as the default branch has it: what is only in a work tree is never used. */
export async function readCommittedSpec(place: CampaignContext, path: string): Promise<DefaultBranchSpec> {
  const { repository, defaultBranch } = place
  const { refs } = await repository.remoteRefs([defaultBranch])
  const oid = refs.get(defaultBranch)
  const where = place.local ? toShortRef(defaultBranch) : `${toShortRef(defaultBranch)} of the remote`
  if (oid === undefined) throw new UserError(`${where} has no commits`, { fix: 'commit (and push) first' })
  await repository.fetch([{ ref: defaultBranch, oid }])
  const { tree } = await repository.commit(oid)
  const entry = await repository.findEntry(tree, path)
  if (entry?.type !== 'blob') {
    const fix = place.local ? `commit ${path} to ${toShortRef(defaultBranch)}` : `commit ${path} and push it`
    throw new UserError(`${path} is not on ${where}`, { place: { file: path }, fix })
  }
  const yaml = (await repository.blob(entry.oid)).toString('utf8')
  const parsed = parseSpec(yaml, { file: path, host: place.forge.kind })
  await requireOwnWorkload(repository, tree, parsed.spec)
  return {
    ...parsed,
    path,
    yaml,
    tip: { commit: oid, tree },
  }
}

/** What is valid but not built yet is refused by name before anything is written. */
export function requireSupportedSpec(
  { spec, path }: Pick<DefaultBranchSpec, 'spec' | 'path'>,
  where: CampaignLocation,
): void {
  const missing = listPlannedFeatures(spec, where)
  if (missing.length > 0) {
    throw new UserError(missing.join('\n'), {
      place: { file: path },
      fix: 'remove or change what is named above',
    })
  }
}

/** All of it is looked at before anything of an earlier campaign is touched. */
export function requireStartable(committed: DefaultBranchSpec, place: CampaignContext): void {
  requireSupportedSpec(committed, getWhereabouts(place.forge))
  requireSameBranches(place, committed.spec, committed.path)
}

/** The first event, the optimize branch and the ledger appear in one push; a race for it has one winner. */
export async function startCampaign(
  place: CampaignContext,
  committed: DefaultBranchSpec,
  options: { fresh: boolean; insteadOf?: Oid | null },
): Promise<'started' | 'exists'> {
  requireStartable(committed, place)
  const { refs } = await listRefs(place)
  const state = refs.get(place.refs.state)
  if (state !== undefined && !options.fresh) return 'exists'
  await requireLedgerNotLost(place, refs)
  // Another process has put that one aside already.
  if (options.insteadOf !== undefined && state !== options.insteadOf) return 'exists'
  const { firstNumber, optimizeTips } = await readArchives(place, state)
  requireOwnOptimizeBranch(place, refs, optimizeTips)
  const transaction = new Transaction(place, { loaded: await loadNothing(place), refs })
  if (state !== undefined) for (const { ref, to } of planArchive(place, refs).moves) transaction.move(ref, to)
  await addStartEvents(transaction, committed, firstNumber)
  transaction.move(place.refs.optimize, committed.tip.commit)
  const result = await transaction.push()
  if (result.ok || result.reason === 'lease') return 'started'
  const what =
    result.reason === 'checked-out'
      ? `${toShortRef(result.ref)} is checked out in ${result.worktree}`
      : result.message
  throw new UserError(`the campaign could not be started: ${what}`)
}

/** A branch of that name which no campaign of ours left there belongs to somebody else. */
function requireOwnOptimizeBranch(
  place: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
  archived: ReadonlySet<Oid>,
): void {
  const optimize = refs.get(place.refs.optimize)
  if (optimize === undefined || refs.has(place.refs.state) || archived.has(optimize)) return
  throw new UserError(`${toShortRef(place.refs.optimize)} exists, but there is no ledger beside it`, {
    fix: `if a campaign ran here, its ledger branch ${toShortRef(place.refs.state)} was deleted: winnow recover on the machine on which it ran last puts it back; else rename that branch, or choose another branches.prefix in the spec`,
  })
}

async function loadNothing(place: CampaignContext): Promise<LoadedCampaign> {
  const tip = await readTip(place.repository, null)
  return { campaign: createEmptyCampaign(), tip, lastSha: '', checkpointSeq: 0, checkpointIgnored: null }
}

async function addStartEvents(
  transaction: Transaction,
  committed: DefaultBranchSpec,
  firstNumber: number,
): Promise<void> {
  const { repository, forge, defaultBranch, name, version } = transaction.place
  const hidden = await forge.isPrivate?.()
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
    host: forge.kind,
    ...(hidden === undefined ? {} : { private_repository: hidden }),
  })
}
