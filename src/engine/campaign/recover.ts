import { ConflictError, UserError } from '../../errors.ts'
import type { PushResult, RefUpdate } from '../../git/push.ts'
import { buildCheckpoint } from '../../ledger/checkpoint.ts'
import { writeLedgerCommit } from '../../ledger/ledger-commit.ts'
import { foldAllEvents, loadCampaign } from '../../ledger/load.ts'
import { isLedger } from '../../ledger/read-events.ts'
import { type Oid, toShortRef } from '../../model/ids.ts'
import { renderLedgerViews } from '../../report/ledger-views.ts'
import { getCampaignSpec } from '../../spec/load.ts'
import { type CampaignContext, listRefs } from './context.ts'

interface RecoveredBranch {
  branch: string
  to: Oid
  what: string
}

type RefTips = ReadonlyMap<string, Oid>

interface LostLedger {
  tip: Oid
  events: number
  updatedAt: string | null
}

/** Returns null when the remote has a ledger, this cache has none, or the ledger was archived. */
export async function findLostLedger(context: CampaignContext, refs: RefTips): Promise<LostLedger | null> {
  const { repository } = context
  const tip = repository.readTrackedTip(context.refs.state)
  if (refs.has(context.refs.state) || tip === null || !(await repository.has(tip))) return null
  if (!(await isLedger(repository, tip)) || (await isArchived(context, tip))) return null
  const { campaign } = await loadCampaign(repository, tip)
  return { tip, events: campaign.seq, updatedAt: campaign.updated_at }
}

export async function isArchived(
  { repository, refs: { archive } }: CampaignContext,
  ledger: Oid,
): Promise<boolean> {
  const { refs } = await repository.remoteRefs([`${archive}*`])
  for (const [ref, oid] of refs) {
    if (!ref.endsWith('/state')) continue
    await repository.fetch([{ ref, oid }])
    if (oid === ledger || ((await repository.has(ledger)) && (await repository.isAncestor(ledger, oid))))
      return true
  }
  return false
}

export async function requireLedgerNotLost(context: CampaignContext, refs: RefTips): Promise<void> {
  const lost = await findLostLedger(context, refs)
  if (lost === null) return
  throw new UserError(
    `the ledger branch ${toShortRef(context.refs.state)} is gone ${describeOrigin(context)}; winnow's cache has it up to event ${lost.events - 1}${lost.updatedAt === null ? '' : ` of ${lost.updatedAt}`}`,
    {
      fix: `winnow recover --campaign ${context.name} puts it back. If it was removed on purpose: winnow recover --campaign ${context.name} --forget, then run again`,
    },
  )
}

/** Returns the tip of the ledger. The error tells a lost ledger from one that was never started. */
export async function requireLedger(context: CampaignContext, refs: RefTips): Promise<Oid> {
  const tip = refs.get(context.refs.state)
  if (tip !== undefined) return tip
  await requireLedgerNotLost(context, refs)
  throw new UserError(`no campaign ${context.name} was started`, { fix: 'winnow run' })
}

function describeOrigin({ local }: CampaignContext): string {
  return local ? 'from this repository' : 'from the remote'
}

export function forgetLostBranches({
  repository,
  refs: { state, optimize, closed, campaign },
}: CampaignContext): void {
  for (const ref of [state, optimize, closed, campaign]) repository.dropTrackingRef(ref)
}

/** One leased push overwrites no branch that appeared meanwhile. */
export async function recoverBranches(context: CampaignContext): Promise<RecoveredBranch[]> {
  const { repository } = context
  const { refs } = await listRefs(context)
  const ledger = refs.get(context.refs.state) ?? (await findLostLedger(context, refs))?.tip
  if (ledger === undefined) {
    throw new UserError(
      `no ledger of ${context.name} is ${describeOrigin(context).replace('from', 'in')} or in this cache`,
      {
        fix: 'run winnow recover on the machine on which the campaign ran last, or winnow run to start a campaign',
      },
    )
  }
  await repository.fetch([...refs].map(([ref, oid]) => ({ ref, oid })))
  const { campaign } = await loadCampaign(repository, ledger)
  const updates: (RefUpdate & { what: string })[] = []
  const add = (ref: string, to: Oid, what: string) => {
    const from = refs.get(ref) ?? null
    if (from !== to) updates.push({ ref, from, to, what })
  }
  add(context.refs.state, ledger, `the ledger, up to event ${campaign.seq - 1}`)
  const kept = refs.get(context.refs.closed) ?? repository.readTrackedTip(context.refs.closed)
  if (kept !== null && (await repository.has(kept)))
    add(context.refs.closed, kept, 'the commits of closed experiments')
  const incumbent = campaign.incumbent.commit
  await requireMovable(context, refs.get(context.refs.optimize), incumbent)
  add(context.refs.optimize, incumbent, 'the recorded incumbent')
  if (updates.length === 0) return []
  requirePushed(await repository.push(updates.map(({ ref, from, to }) => ({ ref, from, to }))), {
    lost: `another process moved branches of ${context.name} meanwhile`,
    failed: `the branches of ${context.name} could not be put back`,
  })
  return updates.map(({ ref, to, what }) => ({ branch: toShortRef(ref), to: to ?? '', what }))
}

/** Without `lost`, a lost race is no error. */
export function requirePushed(result: PushResult, messages: { lost?: string; failed: string }): void {
  if (result.ok) return
  const { lost, failed } = messages
  if (result.reason !== 'lease') {
    const { reason } = result
    const why = reason === 'checked-out' ? describeCheckedOut(result) : result.message
    throw new UserError(`${failed}: ${why}`)
  }
  if (lost !== undefined) throw new ConflictError(lost, result.refs)
}

export function describeCheckedOut({ ref, worktree }: { ref: string; worktree: string }): string {
  return `${toShortRef(ref)} is checked out in ${worktree}`
}

/** Refuses to drop commits of other people from the branch. */
async function requireMovable(context: CampaignContext, tip: Oid | undefined, incumbent: Oid): Promise<void> {
  const { repository, refs } = context
  const optimize = toShortRef(refs.optimize)
  if (!(await repository.has(incumbent))) {
    throw new UserError(
      `commit ${incumbent}, where ${optimize} was, is neither ${describeOrigin(context).replace('from', 'in')} nor in this cache`,
      {
        fix: 'run winnow recover on the machine on which the campaign ran last',
      },
    )
  }
  if (tip === undefined || tip === incumbent || (await repository.isAncestor(tip, incumbent))) return
  throw new UserError(
    `${optimize} is at ${tip}, which winnow did not put there; its recorded incumbent is ${incumbent}`,
    {
      fix: `winnow resume measures those commits; to drop them: git push --force-with-lease=${optimize}:${tip} <remote> ${incumbent}:refs/heads/${optimize}`,
    },
  )
}

/** Invariant 2: writes no event. Returns false when views and checkpoint were up to date. */
export async function rebuildViews(context: CampaignContext): Promise<boolean> {
  const { repository, refs } = context
  const from = await requireLedger(context, (await repository.remoteRefs([refs.state])).refs)
  await repository.fetch([{ ref: refs.state, oid: from }])
  const { campaign, tip, lastSha } = await foldAllEvents(repository, from)
  const to = await writeLedgerCommit(repository, tip, [], {
    message: 'ledger: rebuild views and checkpoint',
    views: renderLedgerViews(campaign, getCampaignSpec(campaign)),
    checkpoint: buildCheckpoint(campaign, lastSha),
  })
  if (to === from) return false
  requirePushed(await repository.push([{ ref: refs.state, from, to }]), {
    lost: 'another process wrote to the ledger meanwhile',
    failed: `${toShortRef(refs.state)} could not be moved`,
  })
  return true
}
