import { UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import { loadCampaign } from '../ledger/load.ts'
import { readEvents } from '../ledger/read-events.ts'
import { hashSha256 } from '../model/canonical.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Oid, OrderId } from '../model/ids.ts'
import type { Order } from '../model/order.ts'
import { parseSpec } from '../spec/parse.ts'
import { getParseOptions } from '../spec/recorded-spec.ts'
import type { Spec } from '../spec/schema.ts'
import { fetchCommit } from './ordered-trees.ts'

/** An order as the ledger gives it: to be measured, or not wanted any more. */
export type LoadedOrder =
  | {
      wanted: true
      order: Order
      spec: Spec
      /** How earlier orders of the same harness were measured; null where none was yet. */
      isolatedBefore: boolean | null
    }
  | { wanted: false; why: string }

/** The order comes from the ledger and from nowhere else: whoever starts a job can only name it. */
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

/** The pinned spec; a sync is measured with the one that it brings. */
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

/** The campaign forgets orders that nobody waits for; the ledger does not. */
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
