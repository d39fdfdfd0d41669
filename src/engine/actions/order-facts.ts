import type { Workflows } from '../../forge/port.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import { openJudging } from '../../model/fold-judging.ts'
import { isJudgedOrder } from '../../model/judged-order.ts'
import { reportArtifact } from '../../model/parcel.ts'
import type { RunFacts } from '../../plan/world.ts'
import { orderSpec } from '../order-spec.ts'
import type { Place } from '../place.ts'
import type { EndedJob } from './ended-run.ts'
import { runArtifacts, type RunArtifacts } from './run-artifacts.ts'
import type { LookAtRun } from './run-lookup.ts'
import { readPartial, readReport } from './run-reports.ts'
import { ownRunId, runNumber, type RunRole, waitingOrders } from './run-role.ts'
import type { unscoredOrders } from './scored-order.ts'

export interface OrderFacts {
  /** Of an order whose run the ledger names. */
  read(campaign: Campaign, live: LiveOrder, runId: string): Promise<RunFacts>
  /** Runs that have ended, as far as they were looked at. */
  readonly ended: ReadonlySet<number>
}

interface Options {
  role: RunRole
  /** Models are asked by a job that follows, which needs what was printed. */
  mayJudge: boolean
  lookAt: LookAtRun
  unscored: ReturnType<typeof unscoredOrders>
}

type Here = Pick<Place, 'repository' | 'by'>

/** Where each order stands: asked of GitHub once for each run, and of the artifacts of runs whose jobs have told a digest. */
export function orderFacts(place: Here, workflows: Workflows, options: Options): OrderFacts {
  const own = ownRunId(place)
  const others = new Map<number, RunArtifacts>()
  const ended = new Set<number>()

  /** Of an earlier run, in which orders were measured that wait for scores. */
  function artifactsOf(campaign: Campaign, runId: string): RunArtifacts {
    const run = runNumber(runId)
    const printed = waitingOrders(campaign).filter(live => live.printed?.run_id === runId)
    const names = printed.map(({ order }) => reportArtifact(order.id))
    const known = others.get(run) ?? runArtifacts(workflows, run, names)
    others.set(run, known)
    return known
  }

  async function otherFact(runId: string): Promise<RunFacts> {
    const number = runNumber(runId)
    const run = await options.lookAt(number)
    if (run?.conclusion === null) return { state: 'running', runId }
    ended.add(number)
    if (run === null) return gone(runId, `workflow run ${number} is not there any more`)
    return gone(runId, `workflow run ${number} ended (${run.conclusion}) and its report was not taken in`)
  }

  return {
    ended,
    async read(campaign, live, runId) {
      const { printed } = live
      if (printed !== null) {
        const artifacts = () => artifactsOf(campaign, printed.run_id)
        return printedFact(place, options, { campaign, live, printed, artifacts })
      }
      if (runId !== own) return otherFact(runId)
      return ownFact(place, options, campaign, live)
    },
  }
}

async function ownFact(
  place: Here,
  { role, unscored }: Options,
  campaign: Campaign,
  live: LiveOrder,
): Promise<RunFacts> {
  const runId = ownRunId(place)
  const run = runNumber(runId)
  if (role.does === 'measure') return { state: 'running', runId }
  if (role.does === 'start')
    return gone(runId, `workflow run ${run} was started again, and its first attempt left no report`)
  const { order } = live
  const { ended, artifacts } = role
  const job = ended.measured.get(order.id)
  if (job === undefined) return gone(runId, `workflow run ${run} ended, and no job of it measured the order`)
  const { status, digest } = job
  if (digest === null) return gone(runId, noReport(run, job))
  const wanted = { order: order.id, runId, digest }
  if (status !== 'success') {
    const read = await readPartial(artifacts, wanted)
    if (read.is === 'partial') return { ...gone(runId, noReport(run, job)), partial: read.partial }
    return gone(runId, `${noReport(run, job)}; what it had measured is lost: ${read.reason}`)
  }
  const spec = await orderSpec(place.repository, campaign, order)
  const read = await readReport(artifacts, { ...wanted, judged: isJudgedOrder(order, spec) })
  if (read.is === 'unusable') return { state: 'unreadable', runId, reason: read.reason }
  if (read.is === 'report') return { state: 'reported', runId, report: read.report }
  return unscored.take(live, spec, { printed: read.printed, digest })
}

function noReport(run: number, { status }: EndedJob): string {
  return `its job in workflow run ${run} ended (${status || 'not started'}) and left no report`
}

interface PrintedBefore {
  campaign: Campaign
  live: LiveOrder
  printed: NonNullable<LiveOrder['printed']>
  artifacts: () => RunArtifacts
}

/** What an earlier run's job printed is fetched only where this process does something with it. */
async function printedFact(
  place: Here,
  { mayJudge, unscored }: Options,
  { campaign, live, printed, artifacts }: PrintedBefore,
): Promise<RunFacts> {
  const { order, scores } = live
  const { run_id: runId, digest } = printed
  const asking = openJudging(campaign, order.id)
  const isWanted = asking === null ? mayJudge || scores !== null : asking.run_id === place.by.run_id
  if (!isWanted) return { state: 'printed', runId, digest }
  const spec = await orderSpec(place.repository, campaign, order)
  const read = await readReport(artifacts(), { order: order.id, runId, digest, judged: true })
  if (read.is === 'printed') return unscored.take(live, spec, { printed: read.printed, digest })
  const why = read.is === 'unusable' ? read.reason : 'it has no items'
  return gone(runId, `what was to be scored is lost: ${why}`)
}

function gone(runId: string, why: string): Extract<RunFacts, { state: 'gone' }> {
  return { state: 'gone', started: true, runId, why }
}
