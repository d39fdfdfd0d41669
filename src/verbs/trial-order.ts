import { harnessOf } from '../engine/facts/harness.ts'
import { sha256 } from '../model/canonical.ts'
import { emptyCampaign } from '../model/campaign.ts'
import type { Order } from '../model/order.ts'
import type { Job } from '../model/pairs.ts'
import { type OwnPurpose, ownRequest } from '../plan/orders.ts'
import type { Trying } from './trial.ts'

/** A trial ends by the time-outs of its parts, never by a deadline of its own. */
const DAY = 24 * 3_600_000

/** The order that a campaign on this base would begin with, which no ledger knows. */
export async function trialOrder(trying: Trying, purpose: OwnPurpose, jobs: readonly Job[]): Promise<Order> {
  const { call, workshop, spec, base } = trying
  const { random, clock } = call.around
  const coins = random.hex(32)
  const campaign = { ...emptyCampaign(), incumbent: base }
  const carried = jobs.length === 0 ? {} : { twin: [...jobs] }
  const { cause: _, ...request } = ownRequest({ campaign, spec }, purpose, { attempt: 1, carried })
  return {
    ...request,
    id: sha256(`trial ${coins}`),
    spec_sha256: sha256('trial'),
    harness: await harnessOf(workshop.repository, spec, base.tree),
    pin: base,
    base,
    coins,
    carried,
    deadline: new Date(clock.now() + DAY).toISOString(),
  }
}
