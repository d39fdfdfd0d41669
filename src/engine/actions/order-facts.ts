import type { Workflows } from '../../forge/port.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import { findPendingJudging } from '../../model/fold-judging.ts'
import { isJudgedOrder } from '../../model/judged-order.ts'
import { getReportArtifactName } from '../../model/parcel.ts'
import type { RunFacts } from '../../plan/world.ts'
import { readSpecForOrder } from '../order-spec.ts'
import type { CampaignContext } from '../place.ts'
import type { EndedJob } from './ended-run.ts'
import { createRunArtifacts, type RunArtifacts } from './run-artifacts.ts'
import type { ReadRun } from './run-lookup.ts'
import { readPartial, readReport } from './run-reports.ts'
import { getJobRunId, parseRunNumber, type RunRole, listWaitingOrders } from './run-role.ts'
import type { createUnscoredOrders } from './scored-order.ts'

export interface OrderFacts {
  /** Of an order whose run the ledger names. */
  read(campaign: Campaign, live: LiveOrder, runId: string): Promise<RunFacts>
  /** Runs that have ended, as far as they were looked at. */
  readonly ended: ReadonlySet<number>
}

interface OrderFactsOptions {
  role: RunRole
  /** Models are asked by a job that follows, which needs what was printed. */
  mayJudge: boolean
  lookAt: ReadRun
  unscored: ReturnType<typeof createUnscoredOrders>
}

type OrderFactsContext = Pick<CampaignContext, 'repository' | 'by'>

/** Where each order stands: asked of GitHub once for each run, and of the artifacts of runs whose jobs have told a digest. */
export function createOrderFacts(
  place: OrderFactsContext,
  workflows: Workflows,
  options: OrderFactsOptions,
): OrderFacts {
  const own = getJobRunId(place)
  const others = new Map<number, RunArtifacts>()
  const ended = new Set<number>()

  /** Of an earlier run, in which orders were measured that wait for scores. */
  function artifactsOf(campaign: Campaign, runId: string): RunArtifacts {
    const run = parseRunNumber(runId)
    const printed = listWaitingOrders(campaign).filter(live => live.printed?.run_id === runId)
    const names = printed.map(({ order }) => getReportArtifactName(order.id))
    const known = others.get(run) ?? createRunArtifacts(workflows, run, names)
    others.set(run, known)
    return known
  }

  async function otherFact(runId: string): Promise<RunFacts> {
    const number = parseRunNumber(runId)
    const run = await options.lookAt(number)
    if (run?.conclusion === null) return { state: 'running', runId }
    ended.add(number)
    if (run === null) return toGoneFact(runId, `workflow run ${number} is not there any more`)
    return toGoneFact(
      runId,
      `workflow run ${number} ended (${run.conclusion}) and its report was not taken in`,
    )
  }

  return {
    ended,
    async read(campaign, live, runId) {
      const { printed } = live
      if (printed !== null) {
        const artifacts = () => artifactsOf(campaign, printed.run_id)
        return readPrintedFact(place, options, { campaign, live, printed, artifacts })
      }
      if (runId !== own) return otherFact(runId)
      return readOwnFact(place, options, campaign, live)
    },
  }
}

async function readOwnFact(
  place: OrderFactsContext,
  { role, unscored }: OrderFactsOptions,
  campaign: Campaign,
  live: LiveOrder,
): Promise<RunFacts> {
  const runId = getJobRunId(place)
  const run = parseRunNumber(runId)
  if (role.does === 'measure') return { state: 'running', runId }
  if (role.does === 'start')
    return toGoneFact(runId, `workflow run ${run} was started again, and its first attempt left no report`)
  const { order } = live
  const { ended, artifacts } = role
  const job = ended.measured.get(order.id)
  if (job === undefined)
    return toGoneFact(runId, `workflow run ${run} ended, and no job of it measured the order`)
  const { status, digest } = job
  if (digest === null) return toGoneFact(runId, describeMissingReport(run, job))
  const wanted = { order: order.id, runId, digest }
  if (status !== 'success') {
    const read = await readPartial(artifacts, wanted)
    if (read.is === 'partial')
      return { ...toGoneFact(runId, describeMissingReport(run, job)), partial: read.partial }
    return toGoneFact(
      runId,
      `${describeMissingReport(run, job)}; what it had measured is lost: ${read.reason}`,
    )
  }
  const spec = await readSpecForOrder(place.repository, campaign, order)
  const read = await readReport(artifacts, { ...wanted, judged: isJudgedOrder(order, spec) })
  if (read.is === 'unusable') return { state: 'unreadable', runId, reason: read.reason }
  if (read.is === 'report') return { state: 'reported', runId, report: read.report }
  return unscored.take(live, spec, { printed: read.printed, digest })
}

function describeMissingReport(run: number, { status }: EndedJob): string {
  return `its job in workflow run ${run} ended (${status || 'not started'}) and left no report`
}

interface PrintedReport {
  campaign: Campaign
  live: LiveOrder
  printed: NonNullable<LiveOrder['printed']>
  artifacts: () => RunArtifacts
}

/** What an earlier run's job printed is fetched only where this process does something with it. */
async function readPrintedFact(
  place: OrderFactsContext,
  { mayJudge, unscored }: OrderFactsOptions,
  { campaign, live, printed, artifacts }: PrintedReport,
): Promise<RunFacts> {
  const { order, scores } = live
  const { run_id: runId, digest } = printed
  const asking = findPendingJudging(campaign, order.id)
  const isWanted = asking === null ? mayJudge || scores !== null : asking.run_id === place.by.run_id
  if (!isWanted) return { state: 'printed', runId, digest }
  const spec = await readSpecForOrder(place.repository, campaign, order)
  const read = await readReport(artifacts(), { order: order.id, runId, digest, judged: true })
  if (read.is === 'printed') return unscored.take(live, spec, { printed: read.printed, digest })
  const why = read.is === 'unusable' ? read.reason : 'it has no items'
  return toGoneFact(runId, `what was to be scored is lost: ${why}`)
}

function toGoneFact(runId: string, why: string): Extract<RunFacts, { state: 'gone' }> {
  return { state: 'gone', started: true, runId, why }
}
