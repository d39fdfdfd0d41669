import { UserError } from '../errors.ts'
import { RULE_VERSION } from '../decide/version.ts'
import type { LoadedCampaign } from '../ledger/load.ts'
import { readTip } from '../ledger/tip.ts'
import { emptyCampaign } from '../model/campaign.ts'
import type { Oid, Point } from '../model/ids.ts'
import { shortRef } from '../model/refs.ts'
import { parseSpec, type ParsedSpecFile } from '../spec/parse.ts'
import type { Whereabouts } from '../spec/unread-keys.ts'
import { unsupported } from '../spec/unsupported.ts'
import { archives, asideMoves } from './archive.ts'
import { harnessOf } from './facts/harness.ts'
import { listRefs } from './listed-refs.ts'
import { type Place, whereaboutsOf } from './place.ts'
import { requireLedgerNotLost } from './recover.ts'
import { requireSameBranches } from './same-branches.ts'
import { requireOwnWorkload } from './stand-ins.ts'
import { Transaction } from './transaction.ts'

export interface CommittedSpec extends ParsedSpecFile {
  path: string
  yaml: string
  tip: Point
}

/** The spec as the default branch has it: what is only in a work tree is never used. */
export async function committedSpec(place: Place, path: string): Promise<CommittedSpec> {
  const { repository, defaultBranch } = place
  const { refs } = await repository.remoteRefs([defaultBranch])
  const oid = refs.get(defaultBranch)
  const where = place.local ? shortRef(defaultBranch) : `${shortRef(defaultBranch)} of the remote`
  if (oid === undefined) throw new UserError(`${where} has no commits`, { fix: 'commit (and push) first' })
  await repository.fetch([{ ref: defaultBranch, oid }])
  const { tree } = await repository.commit(oid)
  const entry = await repository.entryAt(tree, path)
  if (entry?.type !== 'blob') {
    const fix = place.local ? `commit ${path} to ${shortRef(defaultBranch)}` : `commit ${path} and push it`
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
export function requireSupported(
  { spec, path }: Pick<CommittedSpec, 'spec' | 'path'>,
  where: Whereabouts,
): void {
  const missing = unsupported(spec, where)
  if (missing.length > 0) {
    throw new UserError(missing.join('\n'), {
      place: { file: path },
      fix: 'remove or change what is named above',
    })
  }
}

/** All of it is looked at before anything of an earlier campaign is touched. */
export function requireStartable(committed: CommittedSpec, place: Place): void {
  requireSupported(committed, whereaboutsOf(place.forge))
  requireSameBranches(place, committed.spec, committed.path)
}

/** The first event, the optimize branch and the ledger appear in one push; a race for it has one winner. */
export async function startCampaign(
  place: Place,
  committed: CommittedSpec,
  options: { fresh: boolean; insteadOf?: Oid | null },
): Promise<'started' | 'exists'> {
  requireStartable(committed, place)
  const { refs } = await listRefs(place)
  const state = refs.get(place.refs.state)
  if (state !== undefined && !options.fresh) return 'exists'
  await requireLedgerNotLost(place, refs)
  // Another process has put that one aside already.
  if (options.insteadOf !== undefined && state !== options.insteadOf) return 'exists'
  const { firstNumber, optimizeTips } = await archives(place, state)
  requireOurs(place, refs, optimizeTips)
  const transaction = new Transaction(place, { loaded: await nothingLoaded(place), refs })
  if (state !== undefined) for (const { ref, to } of asideMoves(place, refs).moves) transaction.move(ref, to)
  await sealStart(transaction, committed, firstNumber)
  transaction.move(place.refs.optimize, committed.tip.commit)
  const result = await transaction.push()
  if (result.ok || result.reason === 'lease') return 'started'
  const what =
    result.reason === 'checked-out'
      ? `${shortRef(result.ref)} is checked out in ${result.worktree}`
      : result.message
  throw new UserError(`the campaign could not be started: ${what}`)
}

/** A branch of that name which no campaign of ours left there belongs to somebody else. */
function requireOurs(place: Place, refs: ReadonlyMap<string, Oid>, archived: ReadonlySet<Oid>): void {
  const optimize = refs.get(place.refs.optimize)
  if (optimize === undefined || refs.has(place.refs.state) || archived.has(optimize)) return
  throw new UserError(`${shortRef(place.refs.optimize)} exists, but there is no ledger beside it`, {
    fix: `if a campaign ran here, its ledger branch ${shortRef(place.refs.state)} was deleted: winnow recover on the machine on which it ran last puts it back; else rename that branch, or choose another branches.prefix in the spec`,
  })
}

async function nothingLoaded(place: Place): Promise<LoadedCampaign> {
  const tip = await readTip(place.repository, null)
  return { campaign: emptyCampaign(), tip, lastSha: '', checkpointSeq: 0, checkpointIgnored: null }
}

async function sealStart(
  transaction: Transaction,
  committed: CommittedSpec,
  firstNumber: number,
): Promise<void> {
  const { repository, forge, defaultBranch, name, version } = transaction.place
  const hidden = await forge.isPrivate?.()
  const { spec, sha256, yaml, tip, path } = committed
  transaction.seal({
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
    harness: await harnessOf(repository, spec, tip.tree),
    first_number: firstNumber,
    winnow: version,
    host: forge.kind,
    ...(hidden === undefined ? {} : { private_repository: hidden }),
  })
}
