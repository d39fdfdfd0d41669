import { UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Order } from '../model/order.ts'
import { parseSpec } from '../spec/parse.ts'
import { readingOf, specOf } from '../spec/recorded-spec.ts'
import type { Spec } from '../spec/schema.ts'

/** A sync is measured with the spec it brings, everything else with the pinned one. */
export async function orderSpec(
  repository: Repository,
  campaign: Campaign,
  { spec_sha256, pin }: Pick<Order, 'spec_sha256' | 'pin'>,
): Promise<Spec> {
  if (spec_sha256 === campaign.spec_sha256) return specOf(campaign)
  const entry = await repository.entryAt(pin.tree, campaign.spec_path)
  const yaml = entry === null ? campaign.spec_yaml : (await repository.blob(entry.oid)).toString('utf8')
  const parsed = parseSpec(yaml, readingOf(campaign))
  if (parsed.sha256 !== spec_sha256) {
    throw new UserError(
      `the spec ${spec_sha256.slice(0, 12)} of an order is neither pinned nor in its commit`,
    )
  }
  return parsed.spec
}
