import { UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import { type HandedItems, type HandedScores, readItemsFile } from '../judge/handed-on.ts'
import type { PendingJudging } from '../model/asked.ts'
import type { Campaign } from '../model/campaign.ts'
import type { JudgingEnd } from '../model/judging-end.ts'
import { toOneLine } from '../model/landing.ts'
import type { Clock, ProgressReporter, RandomSource } from '../ports.ts'
import { FIRST_ATTEMPT } from './actions/run-role.ts'
import { computeScoringState } from './actions/scored-order.ts'
import { findCloneCampaign, type JobClone, openJobClone } from './job-clone.ts'
import { readModelAccess } from './model-access.ts'
import { readSpecForOrder } from './order-spec.ts'
import { scoreBatches } from './scoring.ts'

/** What one run's tick wrote into the ledger to be scored, in a job of its own: it reads a clone and writes nothing. */
export interface JudgingJob extends JobClone {
  campaign: string
  runId: string
  attempt: number
  /** What that tick handed on. */
  items: string
  clock: Clock
  random: RandomSource
  progress: ProgressReporter
  signal: AbortSignal
}

type ToldScoresOfOrder = HandedScores['judgings'][number]

/** Any prefix would do: nothing is written. */
const PREFIX = 'optimize'
/** Until what was told is handed over and taken in. */
const MARGIN_MS = 15 * 60_000

/** Broken: what was no answer of anybody, where there was such a thing; what was told beside it is told. */
export type JudgingJobResult = { scores: HandedScores; broken: unknown } | { nobody: string }

/**
 * Which orders, by which rubric and for how much is read from the ledger: whoever starts a job can only name the campaign.
 * What is set aside for an asking is set aside once, so that only the first attempt of its run asks (invariant 7).
 */
export async function runJudgingJob(job: JudgingJob): Promise<JudgingJobResult> {
  if (job.attempt !== FIRST_ATTEMPT)
    return {
      nobody: 'this run was started again, and its first attempt alone asks models; the next wake-up does',
    }
  const { repository } = await openJobClone(job, PREFIX)
  try {
    const { loaded } = await findCloneCampaign(repository, job.campaign)
    const { campaign } = loaded
    const now = job.clock.now()
    const own = Object.values(campaign.judging).filter(
      ({ run_id, until }) => run_id === job.runId && Date.parse(until) > now,
    )
    if (own.length === 0) return { nobody: `this run has nothing to score for campaign ${campaign.name}` }
    const handed = await readItemsFile(job.items)
    const { judgings, broken } = await scoreAllOrders({ job, repository, campaign, handed }, own)
    const scores = { winnow: 1, campaign: campaign.name, started: campaign.started, judgings } as const
    return { scores, broken }
  } finally {
    await repository.close()
  }
}

interface JudgingJobContext {
  job: JudgingJob
  repository: Repository
  campaign: Campaign
  handed: HandedItems | { unusable: string }
}

/** One order after the other: what is waited for longest comes first. */
async function scoreAllOrders(
  scene: JudgingJobContext,
  own: readonly PendingJudging[],
): Promise<{ judgings: ToldScoresOfOrder[]; broken: unknown }> {
  const judgings: ToldScoresOfOrder[] = []
  let broken: unknown = null
  let over = 0
  for (const asking of own) {
    const began = scene.job.clock.monotonic()
    const { told, error } = await scoreOneOrder(scene, asking, over)
    judgings.push({ ...told, minutes: (scene.job.clock.monotonic() - began) / 60_000 })
    broken ??= error
    // Each may end one request later than its money: all of them together do so once.
    if (asking.may_cost_usd !== null) over = Math.max(0, over + told.usd - asking.may_cost_usd)
    const ended = told.ended === null ? '' : `; ${told.ended.reason}`
    scene.job.progress.say(
      `order ${told.order.slice(0, 12)}: ${told.records.length} scores asked for${ended}`,
    )
  }
  return { judgings, broken }
}

/** Whatever comes between ends this asking with what was told until then: it was paid for. */
async function scoreOneOrder(
  scene: JudgingJobContext,
  asking: PendingJudging,
  spentUsd: number,
): Promise<{ told: ToldScoresOfOrder; error: unknown }> {
  const { job } = scene
  const { key, order } = asking
  const told: ToldScoresOfOrder = {
    key,
    order,
    model: '',
    records: [],
    requests: 0,
    tokens: 0,
    usd: 0,
    ended: null,
  }
  const timely = AbortSignal.timeout(Math.max(0, Date.parse(asking.until) - MARGIN_MS - job.clock.now()))
  const signal = AbortSignal.any([job.signal, timely])
  try {
    told.ended = await askForScores(scene, asking, { told, spentUsd, signal })
    return { told, error: null }
  } catch (error) {
    const known = job.signal.aborted
      ? toJudgingEnd('late', 'its job was cancelled')
      : timely.aborted
        ? toJudgingEnd('late', 'its time was up')
        : error instanceof UserError
          ? toJudgingEnd('refused', formatUserError(error))
          : null
    told.ended = known ?? toJudgingEnd('unreachable', `its job broke: ${getErrorMessage(error)}`)
    return { told, error: known === null ? error : null }
  }
}

function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function formatUserError({ message, place, fix }: UserError): string {
  const where = place?.path === undefined ? '' : `${place.path}: `
  return `${where}${message}${fix === undefined ? '' : `; ${fix}`}`
}

async function askForScores(
  { job, repository, campaign, handed }: JudgingJobContext,
  asking: PendingJudging,
  { told, spentUsd, signal }: { told: ToldScoresOfOrder; spentUsd: number; signal: AbortSignal },
): Promise<ToldScoresOfOrder['ended']> {
  const live = campaign.orders[asking.order]
  if (live === undefined || live.report !== null) return null
  if ('unusable' in handed) return toJudgingEnd('unreachable', handed.unusable)
  const printed = handed.orders.find(({ key }) => key === asking.key)?.printed
  if (printed === undefined) return toJudgingEnd('unreachable', 'what is to be scored was not handed on')
  const spec = await readSpecForOrder(repository, campaign, live.order)
  const scoring = computeScoringState(live, spec, printed)
  if ('report' in scoring) return null
  const access = readModelAccess(job.env, scoring.due.judge.model)
  told.model = access.model
  const { cut } = await scoreBatches({
    ...scoring,
    known: live.scores?.records ?? [],
    access,
    capUsd: asking.may_cost_usd,
    spentUsd,
    clock: job.clock,
    random: job.random,
    env: job.env,
    record(more, { requests, tokens, usd }) {
      told.records.push(...more)
      Object.assign(told, { requests, tokens, usd: usd ?? 0 })
    },
    signal,
  })
  if (cut === null) return null
  return toJudgingEnd(cut.is === 'over-budget' ? 'set-aside' : cut.is, cut.reason)
}

function toJudgingEnd(is: JudgingEnd, reason: string): ToldScoresOfOrder['ended'] {
  return { is, reason: toOneLine(reason, 500) }
}
