import type { RepositoryContext } from '../engine/campaign/open.ts'
import { computeTreeHarness } from '../engine/observe/sync.ts'
import type { OpenMeteredModels } from '../judge/metered-models.ts'
import { hashSha256 } from '../model/canonical-json.ts'
import type { Point } from '../model/ids.ts'
import type { Order } from '../model/order.ts'
import type { Report } from '../model/report.ts'
import { buildSuiteTerms, type OrderRequest } from '../plan/orders.ts'
import { formatDollars, type ModelSpending } from '../report/check-trial.ts'
import { renderPrimaryLine } from '../report/metrics.ts'
import type { Spec } from '../spec/schema.ts'
import { openCommandModels, SpendingCapReached, type SpendingCap, toModelSpending } from './harness-models.ts'
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
  more?: Omit<NonNullable<Parameters<typeof measureHere>[2]['more']>, 'models'>
  /** Set while the harness may ask models. */
  models?: { cap: SpendingCap; meter: OpenMeteredModels }
  time?: Parameters<typeof measureHere>[2]['time']
}

/** Names for the harness of a spec, which is tried on the default branch. */
export const SPEC_HARNESS = {
  longName: 'the default branch',
  shortName: 'the base',
  workspaceName: 'trial',
  keys: {
    setup: 'measurement.setup:',
    timeout: 'measurement.timeout_seconds',
    share: 'parallel.shared_files',
    metric: renderPrimaryLine,
  },
} as const

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
    ...buildSuiteTerms(spec, request),
    deadline: new Date(clock.now() + YEAR_MS).toISOString(),
  }
}

export async function measureTrial(harness: HarnessRun, order: Order): Promise<Report> {
  const { call, repositoryContext, spec, workspaceName, what, models, time } = harness
  const more = { ...harness.more, ...(models === undefined ? {} : { models: models.meter }) }
  const optional = time === undefined ? { more } : { more, time }
  const report = await measureHere(call, repositoryContext, { order, spec, workspaceName, what, ...optional })
  if (report.runner_error !== null && models !== undefined) requireMoneyLeft(models)
  return report
}

function requireMoneyLeft({ meter, cap }: NonNullable<HarnessRun['models']>): void {
  const { usd } = meter.usage()
  if (cap.usd !== null && usd >= cap.usd) throw new SpendingCapReached(cap, usd)
}

/** Lets the harness ask models for this much at most. Null: it asks none. */
export async function withHarnessModels<T>(
  harness: HarnessRun,
  cap: SpendingCap | null,
  run: (harness: HarnessRun) => Promise<T>,
): Promise<{ result: T; spending: ModelSpending | null }> {
  if (cap === null) return { result: await run(harness), spending: null }
  const models = await openCommandModels(harness.call, harness.spec, cap)
  try {
    const result = await run({ ...harness, models: { cap, meter: models } })
    return { result, spending: toModelSpending(models, cap) }
  } catch (cause) {
    const { usd } = models.usage()
    if (usd > 0 && !(cause instanceof SpendingCapReached))
      harness.call.terminal.err(`note: the model calls until then cost ${formatDollars(usd)}`)
    throw cause
  } finally {
    await models.close()
  }
}
