import { harnessOf } from '../engine/facts/harness.ts'
import { sha256 } from '../model/canonical.ts'
import { emptyCampaign } from '../model/campaign.ts'
import type { Order } from '../model/order.ts'
import type { Job } from '../model/pairs.ts'
import { type OwnPurpose, ownRequest, type Request } from '../plan/orders.ts'
import type { Trying } from './trying.ts'

/** A trial ends by the time-outs of its parts, never by a deadline of its own. */
const YEAR = 365 * 24 * 3_600_000

/** The order that a campaign on this base would begin with, which no ledger knows. */
export function trialOrder(trying: Trying, purpose: OwnPurpose, jobs: readonly Job[]): Promise<Order> {
  const { spec, base } = trying
  const campaign = { ...emptyCampaign(), incumbent: base }
  const carried = jobs.length === 0 ? {} : { twin: [...jobs] }
  return unrecordedOrder(trying, ownRequest({ campaign, spec }, purpose, { attempt: 1, carried }))
}

/** An order as a tick would make it, with coins of its own, of which nothing is written down. */
export async function unrecordedOrder(trying: Trying, request: Omit<Request, 'cause'>): Promise<Order> {
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
    id: sha256(`trial ${coins}`),
    spec_sha256: sha256('trial'),
    harness: await harnessOf(workshop.repository, spec, base.tree),
    pin: base,
    base,
    coins,
    deadline: new Date(clock.now() + YEAR).toISOString(),
  }
}
