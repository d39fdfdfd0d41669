import type { RepositoryContext } from '../engine/campaign/open.ts'
import { computeTreeHarness } from '../engine/observe/sync.ts'
import { UserError } from '../errors.ts'
import { createWebFetch } from '../github/web.ts'
import { openHarnessModels } from '../judge/metered-models.ts'
import { hashSha256 } from '../model/canonical-json.ts'
import type { Point } from '../model/ids.ts'
import type { Order } from '../model/order.ts'
import type { Report } from '../model/report.ts'
import { NO_COST } from '../plan/money.ts'
import { buildSuiteTerms, type OrderRequest } from '../plan/orders.ts'
import { formatDollars } from '../report/check-trial.ts'
import { renderPrimaryLine } from '../report/metrics.ts'
import type { Spec } from '../spec/schema.ts'
import { isMetered } from '../spec/spec-facts.ts'
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

export function measureTrial(harness: HarnessRun, order: Order): Promise<Report> {
  const { call, repositoryContext, spec, workspaceName, what, more, time } = harness
  const optional = { ...(more === undefined ? {} : { more }), ...(time === undefined ? {} : { time }) }
  return measureHere(call, repositoryContext, { order, spec, workspaceName, what, ...optional })
}

// Model calls of the harness

/** The cap of --spend. Null: the trial may spend nothing. */
export function readSpendingCap({ given }: Call, spec: Spec): number | null {
  const text = given.text('spend')
  if (text === undefined) return null
  const capUsd = Number(text)
  if (!(Number.isFinite(capUsd) && capUsd > 0))
    throw new UserError(`--spend ${text} is no amount of US dollars above 0`, { fix: 'write --spend 0.5' })
  if (given.flag('no-try'))
    throw new UserError('--no-try runs nothing, so --spend has no effect', { fix: 'give one of the two' })
  if (isMetered(spec)) return capUsd
  throw new UserError('--spend is for a harness that asks models through winnow, and this one asks none', {
    place: { path: 'measurement.models' },
    fix: 'leave it out: checking this spec costs nothing',
  })
}

/** Lets the harness ask models for this much at most. Null: it asks none. */
export async function withHarnessModels<T>(
  harness: HarnessRun,
  capUsd: number | null,
  run: (harness: HarnessRun) => Promise<T>,
): Promise<T> {
  if (capUsd === null) return run(harness)
  const { terminal, environment } = harness.call
  const { env, random } = environment
  const terms = { env, random, web: createWebFetch(env), capUsd, before: NO_COST, record: () => {} }
  const models = await openHarnessModels(harness.spec, terms)
  try {
    return await run({ ...harness, more: { ...harness.more, models } })
  } catch (cause) {
    const { usd } = models.usage()
    if (usd >= capUsd)
      throw new UserError(
        `the trial spent ${formatDollars(usd)} and did not end, and --spend allows ${formatDollars(capUsd)}`,
        {
          fix: `allow more: --spend ${2 * capUsd}`,
          cause,
        },
      )
    if (usd > 0) terminal.err(`note: the model calls of this trial cost ${formatDollars(usd)}`)
    throw cause
  } finally {
    await models.close()
  }
}
