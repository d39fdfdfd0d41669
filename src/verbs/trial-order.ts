import { computeTreeHarness } from '../engine/facts/harness.ts'
import { hashSha256 } from '../model/canonical.ts'
import { createEmptyCampaign } from '../model/campaign.ts'
import type { Order } from '../model/order.ts'
import type { PairJob } from '../model/pairs.ts'
import { type CampaignOrderPurpose, buildCampaignOrderRequest, type OrderRequest } from '../plan/orders.ts'
import type { HarnessRun } from './trying.ts'

/** A trial ends by the time-outs of its parts, never by a deadline of its own. */
const YEAR = 365 * 24 * 3_600_000

/** The order that a campaign on this base would begin with, which no ledger knows. */
export function createTrialOrder(
  trying: HarnessRun,
  purpose: CampaignOrderPurpose,
  jobs: readonly PairJob[],
): Promise<Order> {
  const { spec, base } = trying
  const campaign = { ...createEmptyCampaign(), incumbent: base }
  const carried = jobs.length === 0 ? {} : { twin: [...jobs] }
  return createUnrecordedOrder(
    trying,
    buildCampaignOrderRequest({ campaign, spec }, purpose, { attempt: 1, carried }),
  )
}

/** An order as a tick would make it, with coins of its own, of which nothing is written down. */
export async function createUnrecordedOrder(
  trying: HarnessRun,
  request: Omit<OrderRequest, 'cause'>,
): Promise<Order> {
  const { call, workshop, spec, base } = trying
  const { random, clock } = call.around
  const { purpose, round, attempt, candidates, stop, carried = {} } = request
  const coins = random.hex(32)
  return {
    purpose,
    round,
    attempt,
    candidates,
    stop,
    carried,
    id: hashSha256(`trial ${coins}`),
    spec_sha256: hashSha256('trial'),
    harness: await computeTreeHarness(workshop.repository, spec, base.tree),
    pin: base,
    base,
    coins,
    deadline: new Date(clock.now() + YEAR).toISOString(),
  }
}
