import type { RepositoryContext } from '../engine/campaign/open.ts'
import { computeTreeHarness } from '../engine/observe/sync.ts'
import { hashSha256 } from '../model/canonical-json.ts'
import type { Point } from '../model/ids.ts'
import type { Order } from '../model/order.ts'
import type { Report } from '../model/report.ts'
import { buildSuiteTerms, type OrderRequest } from '../plan/orders.ts'
import type { Spec } from '../spec/schema.ts'
import { measureHere } from './measure.ts'
import type { Call } from './verb.ts'

/** One measurement of the harness on one commit, as in step 0 of a campaign, but without a ledger. */
export interface HarnessRun {
  call: Call
  repositoryContext: RepositoryContext
  spec: Spec
  base: Point
  /** Name of the commit in sentences, long and short. */
  longName: string
  shortName: string
  /** Name of the command, and of its own work directory. */
  what: string
  workspaceName: string
  /** Names of spec keys or options, for suggested fixes. */
  keys: { setup: string; timeout: string; share: string; metric: (name: string, spec: Spec) => string }
  more?: Parameters<typeof measureHere>[2]['more']
  time?: Parameters<typeof measureHere>[2]['time']
}

/** A trial ends by the timeouts of its parts, so its deadline is far away. */
const YEAR_MS = 365 * 24 * 3_600_000

/** Creates an order like a tick does, with its own coins, but records nothing. */
export async function createUnrecordedOrder(
  harness: HarnessRun,
  request: Omit<OrderRequest, 'cause'>,
): Promise<Order> {
  const { call, repositoryContext, spec, base } = harness
  const { random, clock } = call.environment
  const coins = random.hex(32)
  return {
    ...request,
    earlier_jobs: request.earlier_jobs ?? {},
    id: hashSha256(`trial ${coins}`),
    spec_sha256: hashSha256('trial'),
    harness: await computeTreeHarness(repositoryContext.repository, spec, base.tree),
    pin: base,
    base,
    coins,
    ...buildSuiteTerms(spec, request.stop),
    deadline: new Date(clock.now() + YEAR_MS).toISOString(),
  }
}

export function measureTrial(harness: HarnessRun, order: Order): Promise<Report> {
  const { call, repositoryContext, spec, workspaceName, what, more, time } = harness
  const optional = { ...(more === undefined ? {} : { more }), ...(time === undefined ? {} : { time }) }
  return measureHere(call, repositoryContext, { order, spec, workspaceName, what, ...optional })
}
