import { join } from 'node:path'
import { ConflictError, UserError } from '../../errors.ts'
import { openRepository, type Repository } from '../../git/repository.ts'
import { inspectCheckout } from '../../git/work-tree.ts'
import { loadCampaign, type LoadedCampaign } from '../../ledger/load.ts'
import { readEvents } from '../../ledger/read-events.ts'
import type { Campaign } from '../../model/campaign.ts'
import { hashSha256 } from '../../model/canonical-json.ts'
import { buildCampaignRefs, type Oid, type OrderId } from '../../model/ids.ts'
import type { Order } from '../../model/order.ts'
import { getCampaignSpec, getParseOptions, parseSpec } from '../../spec/load.ts'
import type { Spec } from '../../spec/schema.ts'

type LoadedOrder =
  | {
      wanted: true
      order: Order
      spec: Spec
      /** Whether earlier orders of the same harness ran isolated; null without any. */
      isolatedBefore: boolean | null
    }
  | { wanted: false; why: string }

/** Reads the order from the ledger only: the starter of a job can only name it. */
export async function loadOrder(
  repository: Repository,
  { tip, id, now }: { tip: Oid; id: OrderId; now: number },
): Promise<LoadedOrder> {
  const { campaign } = await loadCampaign(repository, tip)
  const live = campaign.orders[id]
  if (live === undefined) return toUnwantedOrder(await explainUnwantedOrder(repository, tip, id))
  if (live.report !== null) return toUnwantedOrder('it is measured already')
  const { order } = live
  if (Date.parse(order.deadline) < now) return toUnwantedOrder(`its deadline was ${order.deadline}`)
  const yaml = await readOrderSpec(repository, campaign, order)
  if (yaml === null) return toUnwantedOrder('the spec was amended since it was issued')
  const { spec } = parseSpec(yaml, getParseOptions(campaign))
  return { wanted: true, order, spec, isolatedBefore: campaign.isolated[order.harness] ?? null }
}

/** Returns the pinned spec; a sync is measured with the spec that it brings. */
async function readOrderSpec(
  repository: Repository,
  campaign: Pick<Campaign, 'spec_yaml' | 'spec_path'>,
  { spec_sha256, pin }: Order,
): Promise<string | null> {
  if (hashSha256(campaign.spec_yaml) === spec_sha256) return campaign.spec_yaml
  await fetchCommit(repository, pin.commit)
  const entry = await repository.findEntry(pin.tree, campaign.spec_path)
  const yaml = entry?.type === 'blob' ? (await repository.blob(entry.oid)).toString('utf8') : ''
  return hashSha256(yaml) === spec_sha256 ? yaml : null
}

function toUnwantedOrder(why: string): LoadedOrder {
  return { wanted: false, why }
}

/** The campaign drops finished orders; the ledger keeps their events. */
async function explainUnwantedOrder(repository: Repository, tip: Oid, id: OrderId): Promise<string> {
  let found: string | null = null
  for await (const event of readEvents(repository, tip, 0)) {
    if (event.kind === 'order-issued' && event.id === id) found = 'another order has taken its place'
    if (event.kind === 'measured' && event.order === id) return 'it is measured already'
    if (event.kind === 'order-lost' && event.order === id) return 'it was given up as lost'
    if (event.kind === 'report-rejected' && event.order === id) return 'a report on it was rejected'
  }
  if (found !== null) return found
  throw new UserError(`the ledger has no order ${id}`, {
    fix: 'orders are issued by tick: start this job with the id of one of them',
  })
}

/**
 * A sync is measured with the spec it brings, every other order with the pinned one. If the spec was amended
 * since with the same harness, the current spec applies (invariant 4).
 */
export async function readSpecForOrder(
  repository: Repository,
  campaign: Campaign,
  { spec_sha256, pin, harness }: Pick<Order, 'spec_sha256' | 'pin' | 'harness'>,
): Promise<Spec> {
  if (spec_sha256 === campaign.spec_sha256) return getCampaignSpec(campaign)
  await fetchCommit(repository, pin.commit)
  const entry = await repository.findEntry(pin.tree, campaign.spec_path)
  const yaml = entry === null ? campaign.spec_yaml : (await repository.blob(entry.oid)).toString('utf8')
  const parsed = parseSpec(yaml, getParseOptions(campaign))
  if (parsed.sha256 === spec_sha256) return parsed.spec
  if (harness === campaign.harness) return getCampaignSpec(campaign)
  throw new UserError(`the spec ${spec_sha256.slice(0, 12)} of an order is neither pinned nor in its commit`)
}

/** Recreates each missing candidate tree from base and head. It must match the ordered tree. */
export async function fetchOrderedTrees(repository: Repository, order: Order): Promise<void> {
  await fetchCommit(repository, order.pin.commit)
  await fetchCommit(repository, order.base.commit)
  await fetchHoldout(repository, order)
  for (const { label, head, tree } of order.candidates) {
    if (await repository.has(tree)) continue
    await fetchCommit(repository, head)
    const merged = await repository.mergeTree(order.base.commit, head)
    if (merged.clean && merged.tree === tree) continue
    throw new UserError(`${label}: merging ${head} with the base does not give tree ${tree}`, {
      fix: 'measure the order where it was issued',
    })
  }
}

async function fetchHoldout(repository: Repository, { stop }: Order): Promise<void> {
  if (stop.rule === 'holdout' && stop.source !== null && 'ref' in stop.source)
    await fetchCommit(repository, stop.source.commit)
}

/** Tries to fetch a commit that may no longer be on any branch. Returns whether it is here. */
export async function tryFetchCommit(repository: Repository, commit: Oid): Promise<boolean> {
  try {
    await fetchCommit(repository, commit)
    return true
  } catch (error) {
    if (error instanceof ConflictError) return false
    throw error
  }
}

export async function fetchCommit(repository: Repository, commit: Oid): Promise<void> {
  if (!(await repository.has(commit)))
    await repository.fetch([{ ref: `refs/ordered/${commit}`, oid: commit }])
}

/** A clone with all remote branches, as a job gets it. */
export interface JobClone {
  directory: string
  /** Absolute path of winnow's own directory, with a repository of its own. */
  workDir: string
  env: Readonly<Record<string, string>>
}

/** Invariant 6: reads from the clone only, without a remote, without a token and without writing a ref. */
export async function openJobClone(
  { directory, workDir, env }: JobClone,
  prefix: string,
): Promise<{ repository: Repository; topLevel: string | null }> {
  const checkout = await inspectCheckout(directory, env)
  const dir = join(workDir, 'repository.git')
  const remote = checkout.commonDir
  return {
    repository: await openRepository({ dir, remote, prefix, local: true, env }),
    topLevel: checkout.topLevel,
  }
}

/** In a job's clone, branches are remote-tracking refs; in a person's clone they may be local. */
export async function findLedgerTip(
  repository: Repository,
  { prefix, campaign }: { prefix: string; campaign: string },
): Promise<Oid> {
  const { state } = buildCampaignRefs(prefix, campaign)
  const remoteBranch = state.replace('refs/heads/', 'refs/remotes/origin/')
  const { refs } = await repository.remoteRefs([remoteBranch, state])
  const ref = [remoteBranch, state].find(each => refs.has(each))
  const oid = ref === undefined ? undefined : refs.get(ref)
  if (ref === undefined || oid === undefined) throw toNoLedgerError(campaign)
  await repository.fetch([{ ref, oid }])
  return oid
}

function toNoLedgerError(campaign: string): UserError {
  return new UserError(`the clone has no ledger of campaign ${campaign || 'at all'}`, {
    fix: 'give actions/checkout `fetch-depth: 0`, which fetches every branch, and start the campaign first',
  })
}

const STATE_REF = /^refs\/(?:heads|remotes\/origin)\/([^/]+)-state\/([^/]+)$/

/** Finds the campaign with this name under any prefix; an empty name matches the only campaign. */
export async function findCloneCampaign(
  repository: Repository,
  name: string,
): Promise<{ loaded: LoadedCampaign; spec: Spec }> {
  const { refs } = await repository.remoteRefs(['refs/remotes/origin/*-state/*', 'refs/heads/*-state/*'])
  const found = new Map<string, { prefix: string; campaign: string }>()
  for (const ref of refs.keys()) {
    const [, prefix = '', campaign = ''] = STATE_REF.exec(ref) ?? []
    if (campaign !== '' && (name === '' || campaign === name))
      found.set(`${prefix} ${campaign}`, { prefix, campaign })
  }
  const ledgers: { loaded: LoadedCampaign; spec: Spec }[] = []
  for (const { prefix, campaign } of found.values()) {
    const loaded = await loadCampaign(repository, await findLedgerTip(repository, { prefix, campaign }))
    const spec = getCampaignSpec(loaded.campaign)
    // An unrelated branch may look like a ledger of another prefix.
    if (loaded.campaign.name === campaign && spec.branches.prefix === prefix) ledgers.push({ loaded, spec })
  }
  const [only, ...others] = ledgers
  if (only === undefined) throw toNoLedgerError(name)
  if (others.length === 0) return only
  const names = ledgers.map(({ loaded }) => loaded.campaign.name)
  throw new UserError(`there are several campaigns: ${names.join(', ')}`, {
    fix: 'name one with the input campaign',
  })
}
