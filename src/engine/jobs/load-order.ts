import { ConflictError, UserError } from '../../errors.ts'
import type { Repository } from '../../git/repository.ts'
import type { LoadedCampaign } from '../../ledger/load.ts'
import { readEvents } from '../../ledger/read-events.ts'
import type { Campaign } from '../../model/campaign.ts'
import { hashSha256 } from '../../model/canonical-json.ts'
import type { Oid, OrderId } from '../../model/ids.ts'
import type { Order } from '../../model/order.ts'
import { getCampaignSpec, getParseOptions, parseSpec } from '../../spec/load.ts'
import type { Spec } from '../../spec/schema.ts'

type LoadedOrder =
  | {
      wanted: true
      order: Order
      spec: Spec
      isolatedBefore: boolean | null
    }
  | { wanted: false; why: string }

/** Reads the order from the ledger only: the starter of a job can only name it. */
export async function loadOrder(
  repository: Repository,
  { campaign, tip }: LoadedCampaign,
  { id, now }: { id: OrderId; now: number },
): Promise<LoadedOrder> {
  const live = campaign.orders[id]
  if (live === undefined) return toUnwantedOrder(await explainUnwantedOrder(repository, tip.commit ?? '', id))
  if (live.report !== null) return toUnwantedOrder('it is measured already')
  const { order } = live
  if (Date.parse(order.deadline) < now) return toUnwantedOrder(`its deadline was ${order.deadline}`)
  const spec = await readIssuedSpec(repository, campaign, order)
  if (spec === null) return toUnwantedOrder('the spec was amended since it was issued')
  return { wanted: true, order, spec, isolatedBefore: campaign.isolated[order.harness] ?? null }
}

type OrderSpecSource = Pick<Order, 'spec_sha256' | 'pin' | 'harness'>

/** Returns the pinned spec; a sync is measured with the spec that it brings. Null: it was amended since. */
async function readIssuedSpec(
  repository: Repository,
  campaign: Campaign,
  { spec_sha256, pin }: OrderSpecSource,
): Promise<Spec | null> {
  if (spec_sha256 === campaign.spec_sha256) return getCampaignSpec(campaign)
  await fetchCommit(repository, pin.commit)
  const entry = await repository.findEntry(pin.tree, campaign.spec_path)
  const yaml = entry?.type === 'blob' ? (await repository.blob(entry.oid)).toString('utf8') : ''
  return hashSha256(yaml) === spec_sha256 ? parseSpec(yaml, getParseOptions(campaign)).spec : null
}

function toUnwantedOrder(why: string): LoadedOrder {
  return { wanted: false, why }
}

/** The campaign drops finished orders; the ledger keeps their events. */
async function explainUnwantedOrder(repository: Repository, tip: Oid, id: OrderId): Promise<string> {
  let found: string | null = null
  for await (const event of readEvents(repository, tip, 0)) {
    if (event.kind === 'order-issued' && event.id === id) found = 'another order replaced it'
    if (event.kind === 'measured' && event.order === id) return 'it is measured already'
    if (event.kind === 'order-lost' && event.order === id) return 'it was recorded as lost'
    if (event.kind === 'report-rejected' && event.order === id) return 'a report on it was rejected'
  }
  if (found !== null) return found
  throw new UserError(`the ledger has no order ${id}`, {
    fix: 'orders are issued by tick: start this job with the id of one of them',
  })
}

/** If the spec was amended since with the same harness, the current spec applies (invariant 4). */
export async function readSpecForOrder(
  repository: Repository,
  campaign: Campaign,
  order: OrderSpecSource,
): Promise<Spec> {
  const issued = await readIssuedSpec(repository, campaign, order)
  if (issued !== null) return issued
  if (order.harness === campaign.harness) return getCampaignSpec(campaign)
  throw new UserError(
    `the spec ${order.spec_sha256.slice(0, 12)} of an order is neither pinned nor in its commit`,
  )
}

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
