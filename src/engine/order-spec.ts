import { UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Order } from '../model/order.ts'
import { parseSpec } from '../spec/parse.ts'
import { getParseOptions, getCampaignSpec } from '../spec/recorded-spec.ts'
import type { Spec } from '../spec/schema.ts'
import { fetchCommit } from './ordered-trees.ts'

/**
 * A sync is measured with the spec it brings, everything else with the pinned one. One that was amended since, and not
 * in what measures, says the same of an order as the one in force: invariant 4, by the harness both have.
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
