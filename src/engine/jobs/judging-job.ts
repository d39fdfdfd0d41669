import { UserError } from '../../errors.ts'
import type { Repository } from '../../git/repository.ts'
import { isScored } from '../../judge/ask-judges.ts'
import { type Batch, buildBatches } from '../../judge/batch.ts'
import { getJudgedKey } from '../../judge/evidence.ts'
import {
  buildJudgedReport,
  type HandedItems,
  type HandedScores,
  type JudgingTask,
  limitItems,
  prepareJudging,
  type PrintedOrder,
  readItemsFile,
  readScoresFile,
} from '../../judge/judged-report.ts'
import type { JobFile } from '../../measure/job-file.ts'
import type { Campaign, LiveOrder, PendingJudging } from '../../model/campaign.ts'
import type { JudgingEnd, ScoreRecord } from '../../model/event-schemas.ts'
import type { OrderId } from '../../model/ids.ts'
import { toOneLine } from '../../model/text.ts'
import type { Report } from '../../model/report.ts'
import { explainMismatch } from '../../plan/reports.ts'
import type { JudgedScores, JudgesFacts, RunFacts } from '../../plan/world.ts'
import type { Clock, ProgressReporter, RandomSource } from '../../ports.ts'
import type { Spec } from '../../spec/schema.ts'
import type { CampaignContext } from '../campaign/context.ts'
import { type FindLost, FIRST_ATTEMPT } from './github-runs.ts'
import { readModelAccess, scoreBatches } from './judging.ts'
import { findCloneCampaign, type JobClone, openJobClone, readSpecForOrder } from './load-order.ts'

/**
 * Scores the judgings that one run's tick recorded, in a job of its own. It reads a clone and writes no ref.
 */
interface JudgingJob extends JobClone {
  campaign: string
  runId: string
  attempt: number
  /** Path of the file with the items to score. */
  items: string
  clock: Clock
  random: RandomSource
  progress: ProgressReporter
  signal: AbortSignal
}

type ReadScores = HandedScores['judgings'][number]

/** Any prefix works, because the job writes no ref. */
const PREFIX = 'optimize'
/** Time to upload the scores and to record them. */
const MARGIN_MS = 15 * 60_000

/** `broken`: an error of the job itself. The scores of other orders are returned with it. */
export type JudgingJobResult = { scores: HandedScores; broken: unknown } | { nobody: string }

/**
 * Reads orders, rubric and budget from the ledger, because the starter of a job can only name the campaign.
 * The budget of a judging is reserved once, so only the first attempt of its run asks models (invariant 7).
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
    const { judgings, broken } = await scoreAllOrders({ job, repository, campaign, items: handed }, own)
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
  items: HandedItems | { unusable: string }
}

/** Scores one order after the other, longest waiting first. */
async function scoreAllOrders(
  context: JudgingJobContext,
  own: readonly PendingJudging[],
): Promise<{ judgings: ReadScores[]; broken: unknown }> {
  const judgings: ReadScores[] = []
  let broken: unknown = null
  let over = 0
  for (const asking of own) {
    const began = context.job.clock.monotonic()
    const { result, error } = await scoreOneOrder(context, asking, over)
    judgings.push({ ...result, minutes: (context.job.clock.monotonic() - began) / 60_000 })
    broken ??= error
    // One request may exceed the budget of its order. Deduct the excess from the next one, so that together
    // they exceed it by one request only.
    if (asking.may_cost_usd !== null) over = Math.max(0, over + result.usd - asking.may_cost_usd)
    const ended = result.ended === null ? '' : `; ${result.ended.reason}`
    context.job.progress.say(
      `order ${result.order.slice(0, 12)}: ${result.records.length} scores asked for${ended}`,
    )
  }
  return { judgings, broken }
}

/** An interruption ends this judging with the scores received so far, because they were paid for. */
async function scoreOneOrder(
  context: JudgingJobContext,
  asking: PendingJudging,
  spentUsd: number,
): Promise<{ result: ReadScores; error: unknown }> {
  const { job } = context
  const { key, order } = asking
  const result: ReadScores = {
    key,
    order,
    model: '',
    records: [],
    requests: 0,
    tokens: 0,
    usd: 0,
    ended: null,
  }
  const deadline = AbortSignal.timeout(Math.max(0, Date.parse(asking.until) - MARGIN_MS - job.clock.now()))
  const signal = AbortSignal.any([job.signal, deadline])
  try {
    result.ended = await askForScores(context, asking, { result, spentUsd, signal })
    return { result, error: null }
  } catch (error) {
    const known = job.signal.aborted
      ? toJudgingEnd('late', 'its job was cancelled')
      : deadline.aborted
        ? toJudgingEnd('late', 'its time was up')
        : error instanceof UserError
          ? toJudgingEnd('refused', formatUserError(error))
          : null
    result.ended = known ?? toJudgingEnd('unreachable', `its job broke: ${getErrorMessage(error)}`)
    return { result, error: known === null ? error : null }
  }
}

function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function formatUserError({ message, place: errorPlace, fix }: UserError): string {
  const where = errorPlace?.path === undefined ? '' : `${errorPlace.path}: `
  return `${where}${message}${fix === undefined ? '' : `; ${fix}`}`
}

async function askForScores(
  { job, repository, campaign, items: handed }: JudgingJobContext,
  asking: PendingJudging,
  { result, spentUsd, signal }: { result: ReadScores; spentUsd: number; signal: AbortSignal },
): Promise<ReadScores['ended']> {
  const live = campaign.orders[asking.order]
  if (live === undefined || live.report !== null) return null
  if ('unusable' in handed) return toJudgingEnd('unreachable', handed.unusable)
  const printed = handed.orders.find(({ key }) => key === asking.key)?.printed
  if (printed === undefined) return toJudgingEnd('unreachable', 'what is to be scored was not handed on')
  const spec = await readSpecForOrder(repository, campaign, live.order)
  const scoring = computeScoringState(live, spec, printed)
  if ('report' in scoring) return null
  const access = readModelAccess(job.env, scoring.due.judge.model)
  result.model = access.model
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
      result.records.push(...more)
      Object.assign(result, { requests, tokens, usd: usd ?? 0 })
    },
    signal,
  })
  if (cut === null) return null
  return toJudgingEnd(cut.is === 'over-budget' ? 'set-aside' : cut.is, cut.reason)
}

function toJudgingEnd(is: JudgingEnd, reason: string): ReadScores['ended'] {
  return { is, reason: toOneLine(reason, 500) }
}

interface JudgesOptions {
  /** A later job of this run asks models. */
  mayJudge: boolean
  /** Scores from the judging job of this run; null when it had no work. */
  scores: JobFile | null
  findLost: FindLost
}

/** Read after the runs, because their printed items tell which scores are expected. */
export interface JudgesReader {
  facts(campaign: Campaign): Promise<JudgesFacts>
}

/**
 * Reads the scores of the judging job for the judgings of this run only. Accepts a score only for an item that
 * was to be scored, on the scale of the rubric.
 */
export function createJudgesReader(
  context: Pick<CampaignContext, 'by' | 'progress'>,
  runner: Pick<UnscoredOrders, 'due'>,
  { mayJudge: follow, scores, findLost }: JudgesOptions,
): JudgesReader {
  const reported = new Set<string>()
  const read = scores === null ? null : readScoresFile(scores)

  function reportOnce(line: string): void {
    if (!reported.has(line)) context.progress.say(line)
    reported.add(line)
  }

  function selectScores(campaign: Campaign, given: NonNullable<typeof read>): ReadScores[] | string {
    if ('unusable' in given) return given.unusable
    const { campaign: name, started } = given
    if (name === campaign.name && started === campaign.started) return given.judgings
    return `the scores are for campaign ${name.slice(0, 100)}`
  }

  return {
    async facts(campaign) {
      const lost = await findLost(Object.values(campaign.judging))
      const untold = lost.map(({ asking: { key }, reason }) => ({ key, reason }))
      const facts: JudgesFacts = { hasJudgeJob: follow, scores: [], lost: untold }
      if (read === null) return facts
      const own = listOpenJudgings(context, campaign)
      if (own.length === 0) return facts
      const given = selectScores(campaign, read)
      for (const asking of own) {
        const found = typeof given === 'string' ? given : matchScores(asking, given, runner.due(asking.order))
        if (typeof found !== 'string') facts.scores.push(found)
        else {
          facts.lost.push({ key: asking.key, reason: found })
          reportOnce(`Order ${asking.order.slice(0, 12)}: no scores are taken, ${found}.`)
        }
      }
      return facts
    },
  }
}

function listOpenJudgings({ by }: Pick<CampaignContext, 'by'>, { judging }: Campaign): PendingJudging[] {
  return Object.values(judging).filter(({ run_id }) => run_id === by.run_id)
}

function matchScores(
  asking: PendingJudging,
  given: readonly ReadScores[],
  due: ScoresToAsk | null,
): JudgedScores | string {
  const one = given.find(({ key }) => key === asking.key)
  if (one === undefined) return 'its job gave none'
  if (one.order !== asking.order) return `they are of order ${one.order.slice(0, 12)}`
  // No order waits for these scores any more; their cost is still recorded.
  if (due === null) return { ...one, records: [] }
  const wrong = one.records.find(record => !isRequestedScore(record, due))
  return wrong === undefined ? one : `one is not what was asked for: ${getJudgedKey(wrong).slice(0, 200)}`
}

function isRequestedScore(record: ScoreRecord, { due: { rubric }, batches }: ScoresToAsk): boolean {
  const { judge, item, side, scores } = record
  const shown = batches.some(
    batch => batch.judge === judge && batch.entries.some(entry => entry.item === item && entry.side === side),
  )
  if (!shown) return false
  if (scores === null) return true
  const fields = [rubric.primary, ...rubric.others]
  const names = Object.keys(scores)
  if (names.length !== fields.length || !fields.every(field => names.includes(field))) return false
  const score = scores[rubric.primary]
  const [lowest, highest] = rubric.scale
  return typeof score === 'number' && score >= lowest && score <= highest
}

/** Returns the items for the judging job of this run; null when it has no work. */
export function listItemsToJudge(
  context: Pick<CampaignContext, 'by'>,
  campaign: Campaign,
  runner: Pick<UnscoredOrders, 'printed'>,
): HandedItems | null {
  const orders = listOpenJudgings(context, campaign).flatMap(({ key, order }) => {
    const printed = runner.printed(order)
    return printed === null ? [] : [{ key, order, printed }]
  })
  if (orders.length === 0) return null
  const { name, started } = campaign
  return limitItems({ winnow: 1, campaign: name, started, orders })
}

interface ScoresToAsk {
  due: JudgingTask
  batches: Batch[]
}

/** A report when no score is missing or when scoring cannot change the result. */
type ScoringState = { report: Report } | ScoresToAsk

/** Combines a measured order with the recorded scores. Deterministic for the same ledger. */
export function computeScoringState(
  { order, scores }: LiveOrder,
  spec: Spec,
  printed: PrintedOrder,
): ScoringState {
  // A mismatched report will be rejected, so do not pay for its scores.
  if (explainMismatch(order, printed.report) !== null) return { report: printed.report }
  const due = prepareJudging({ order, spec }, printed)
  if ('executions' in due) return { report: due }
  const batches = buildBatches(due.pairs, due.judging)
  if (scores === null || !isScored(batches, scores.records)) return { due, batches }
  const { records, model, requests, tokens, usd } = scores
  const cost = { model, requests, tokens, usd }
  return { report: buildJudgedReport(order, printed, { ...due, records, cost }) }
}

export interface UnscoredOrders {
  printed(order: OrderId): PrintedOrder | null
  due(order: OrderId): ScoresToAsk | null
}

export function createUnscoredOrders(): UnscoredOrders & {
  take(live: LiveOrder, spec: Spec, found: { printed: PrintedOrder; digest: string }): RunFacts
} {
  const found = new Map<OrderId, ScoresToAsk & { printed: PrintedOrder }>()
  return {
    take(live, spec, { printed, digest }) {
      const runId = printed.report.run_id
      const scoring = computeScoringState(live, spec, printed)
      if ('report' in scoring) {
        found.delete(live.order.id)
        return { state: 'reported', runId, report: scoring.report }
      }
      found.set(live.order.id, { printed, ...scoring })
      return { state: 'printed', runId, digest }
    },
    printed: order => found.get(order)?.printed ?? null,
    due: order => found.get(order) ?? null,
  }
}
