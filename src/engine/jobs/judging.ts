import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { UserError } from '../../errors.ts'
import { createWebFetch } from '../../github/web.ts'
import { askJudges, isScored, type JudgingCut } from '../../judge/ask-judges.ts'
import type { Batch } from '../../judge/batch.ts'
import { createChatModels } from '../../judge/chat-model.ts'
import {
  buildJudgedReport,
  type GivenScores,
  type ItemsToJudge,
  itemsToJudgeSchema,
} from '../../judge/judged-report.ts'
import { createJudgeModels, formatModels } from '../../judge/judge-models.ts'
import {
  buildTaskBatches,
  type JudgingTask,
  prepareJudging,
  type PrintedOrder,
} from '../../judge/judging-task.ts'
import { type ModelAccess, readModelAccess } from '../../judge/model-access.ts'
import { isMissing } from '../../measure/file-system.ts'
import type { LiveOrder, PendingJudging } from '../../model/campaign.ts'
import type { JudgingEnd, ScoreRecord } from '../../model/event-schemas.ts'
import type { OrderId } from '../../model/ids.ts'
import { MAX_FILE_BYTES, parseJobFile } from '../../model/job-file.ts'
import type { Order } from '../../model/order.ts'
import type { Report } from '../../model/report.ts'
import { toOneLine } from '../../model/text.ts'
import { explainMismatch } from '../../plan/reports.ts'
import type { RunFacts } from '../../plan/world.ts'
import type { ModelUsage } from '../../ports.ts'
import type { Spec } from '../../spec/schema.ts'
import { listJudgeModels } from '../../spec/spec-facts.ts'
import type { CampaignContext } from '../campaign/context.ts'
import { FIRST_ATTEMPT } from './github-runs.ts'
import {
  type ClonedCampaign,
  handleRequests,
  type JobAnswers,
  type JobEnvironment,
  limitRequest,
  readSpecForOrder,
} from './job-clone.ts'
import type { OrderFiles } from './order-files.ts'

/** Scores one order at a time. */
export interface Judges {
  report(request: { order: Order; spec: Spec }, printed: PrintedOrder, signal: AbortSignal): Promise<Report>
}

type JudgeContext = Pick<CampaignContext, 'env' | 'clock' | 'random' | 'progress' | 'faults'>

export function createLocalJudges(
  context: JudgeContext,
  files: Pick<OrderFiles, 'scores' | 'score'>,
): Judges {
  let last: Promise<unknown> = Promise.resolve()
  return {
    report(request, printed, signal) {
      const turn = last.then(() => judgeOrder({ context, files }, request, printed, signal))
      // The caller gets the error; the next order only waits.
      last = turn.catch(() => {})
      return turn
    },
  }
}

interface JudgingContext {
  context: JudgeContext
  files: Pick<OrderFiles, 'scores' | 'score'>
}

async function judgeOrder(
  { context, files }: JudgingContext,
  request: { order: Order; spec: Spec },
  printed: PrintedOrder,
  signal: AbortSignal,
): Promise<Report> {
  const due = prepareJudging(request, printed)
  if ('executions' in due) return due
  const { id, may_cost_usd } = request.order
  const access = await readJudgeAccess(context.env, request.spec, due)
  const stored = files.scores(id) ?? { records: [], requests: 0, tokens: 0, usd: 0 }
  context.progress.say(describeScoring(formatModels(access), due))
  let scored = stored
  const cut = await scoreBatches(context, {
    due,
    batches: buildTaskBatches(due),
    known: stored.records,
    access,
    capUsd: may_cost_usd ?? due.judge.max_total_cost_usd,
    spentUsd: stored.usd,
    async record(more, usage) {
      scored = {
        records: [...scored.records, ...more],
        requests: stored.requests + usage.requests,
        tokens: stored.tokens + usage.tokens,
        usd: stored.usd + (usage.usd ?? 0),
      }
      await files.score(id, scored)
      if (more.length > 0) context.faults.reach('judge:recorded')
    },
    signal,
  })
  const { requests, tokens, usd } = scored
  const cost = { model: formatModels(access), requests, tokens, usd }
  if (cut !== null) return endJudging(cut, printed.report, cost)
  return buildJudgedReport(request.order, printed, { ...due, records: scored.records, cost })
}

/** Every cut but an exhausted budget is for a person; the next run continues with the scores. */
function endJudging(cut: JudgingCut, report: Report, judging: NonNullable<Report['judging']>): Report {
  if (cut.is === 'over-budget') return endForLackOfMoney(report, judging, cut.reason)
  throw new UserError(`no model could be asked to judge: ${cut.reason}`, {
    fix: 'fix that, then run again: measurements and scores so far are kept',
  })
}

function endForLackOfMoney(report: Report, judging: NonNullable<Report['judging']>, reason: string): Report {
  return { ...report, judging, runner_error: `judging ended: ${reason}` }
}

// Orders that wait for scores

export interface ScoresToAsk {
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
  const batches = buildTaskBatches(due)
  if (scores === null) return { due, batches }
  const { records, model, requests, tokens, usd, ended } = scores
  const cost = { model, requests, tokens, usd }
  if (!isScored(batches, records)) {
    // Probes are worth a part of the money, and not all of it.
    const isOver = order.purpose === 'probe' && ended?.is === 'set-aside'
    return isOver ? { report: endForLackOfMoney(printed.report, cost, ended.reason) } : { due, batches }
  }
  return { report: buildJudgedReport(order, printed, { ...due, records, cost }) }
}

/** Measured orders that wait for scores, with the scores to ask for. */
export type UnscoredOrders = Map<OrderId, ScoresToAsk & { printed: PrintedOrder }>

export function takePrintedOrder(
  unscored: UnscoredOrders,
  live: LiveOrder,
  spec: Spec,
  { printed, digest }: { printed: PrintedOrder; digest: string },
): RunFacts {
  const runId = printed.report.run_id
  const scoring = computeScoringState(live, spec, printed)
  if ('report' in scoring) {
    unscored.delete(live.order.id)
    return { state: 'reported', runId, report: scoring.report }
  }
  unscored.set(live.order.id, { printed, ...scoring })
  return { state: 'printed', runId, digest }
}

// Scoring

interface ScoringRequest {
  due: Pick<JudgingTask, 'rubric' | 'singletonRubric'>
  batches: readonly Batch[]
  known: readonly ScoreRecord[]
  access: JudgeAccess
  capUsd: number | null
  /** Already spent under the same cap. */
  spentUsd: number
  /** Called after each request with its scores and the total usage so far. */
  record: (records: readonly ScoreRecord[], usage: ModelUsage) => void | Promise<void>
  signal: AbortSignal
}

async function scoreBatches(
  { clock, random, env }: Pick<CampaignContext, 'clock' | 'random' | 'env'>,
  { due, batches, known, access, record, signal, capUsd, spentUsd }: ScoringRequest,
): Promise<JudgingCut | null> {
  const web = createWebFetch(env)
  const models = createJudgeModels(access, { capUsd, spentUsd }, terms =>
    createChatModels({ ...terms, clock, random, web }),
  )
  try {
    const { cut } = await askJudges({
      ...due,
      batches,
      known,
      models,
      names: [access[0].model, ...access.slice(1).map(({ model }) => model)],
      record: records => record(records, models.usage()),
      signal,
    })
    return cut
  } finally {
    // An interrupted request has a cost too.
    await record([], models.usage())
  }
}

/** Each judge's model, one or several. */
type JudgeAccess = readonly [ModelAccess, ...ModelAccess[]]

async function readJudgeAccess(
  env: Readonly<Record<string, string>>,
  { models }: Pick<Spec, 'models'>,
  { judge }: Pick<JudgingTask, 'judge'>,
): Promise<JudgeAccess> {
  const settings = { env, models, web: createWebFetch(env) }
  const [first = judge.model, ...others] = listJudgeModels(judge)
  const access: [ModelAccess, ...ModelAccess[]] = [await readModelAccess(settings, first)]
  for (const name of others) access.push(await readModelAccess(settings, name))
  return access
}

function describeScoring(model: string, { pairs, samples }: JudgingTask): string {
  if (samples.length === 0) return `${model} scores ${pairs.length} items of both sides`
  const count = samples.flat().reduce((sum, { items }) => sum + items.length, 0)
  return `${model} scores ${count} items`
}

interface JudgeJob extends JobEnvironment {
  items: string
}

/** Time to upload the scores and to record them. */
const MARGIN_MS = 15 * 60_000

export function runJudgeJob(job: JudgeJob): Promise<JobAnswers<GivenScores>> {
  return handleRequests(job, {
    listRequests: ({ judging }) => Object.values(judging),
    async answer(cloned, requests) {
      const items = await readItemsFile(job)
      const answers: GivenScores[] = []
      let broken: unknown = null
      let over = 0
      for (const request of requests) {
        const began = job.clock.monotonic()
        const { result, error } = await scoreOneOrder({ job, cloned, items }, request, over)
        const { order, records, ended, usd } = result
        answers.push({ ...result, minutes: (job.clock.monotonic() - began) / 60_000 })
        broken ??= error
        // One request may exceed the budget of its order. Deduct the excess from the next one, so that together
        // they exceed it by one request only.
        if (request.may_cost_usd !== null) over = Math.max(0, over + usd - request.may_cost_usd)
        const end = ended === null ? '' : `; ${ended.reason}`
        job.progress.say(`order ${order.slice(0, 12)}: ${records.length} scores${end}`)
      }
      return { answers, error: broken }
    },
  })
}

/** The path comes from an input, so the file can be of any type and size. */
export async function readItemsFile({
  items: path,
  runId,
}: Pick<JudgeJob, 'items' | 'runId'>): Promise<ItemsToJudge[] | { unusable: string }> {
  const bytes = await readFileBytes(path, MAX_FILE_BYTES.items)
  const given = typeof bytes === 'string' ? { ok: false as const, why: bytes } : { ok: true as const, bytes }
  return parseJobFile(given, {
    content: 'items',
    run: `${runId}/${FIRST_ATTEMPT}`,
    entry: itemsToJudgeSchema,
  })
}

interface JudgeJobContext {
  job: JudgeJob
  cloned: ClonedCampaign
  items: ItemsToJudge[] | { unusable: string }
}

/** An interruption ends this request with the scores received so far, because they were paid for. */
async function scoreOneOrder(
  context: JudgeJobContext,
  request: PendingJudging,
  spentUsd: number,
): Promise<{ result: GivenScores; error: unknown }> {
  const { job } = context
  const { key, order, until } = request
  const cost = { requests: 0, tokens: 0, usd: 0 }
  const result: GivenScores = { key, order, model: '', records: [], ...cost, ended: null }
  const { deadline, signal } = limitRequest(job, until, MARGIN_MS)
  try {
    result.ended = await askForScores(context, request, { result, spentUsd, signal })
    return { result, error: null }
  } catch (error) {
    const known = job.signal.aborted
      ? toJudgingEnd('late', 'its job was cancelled')
      : deadline.aborted
        ? toJudgingEnd('late', 'it ran out of time')
        : error instanceof UserError
          ? toJudgingEnd('refused', formatUserError(error))
          : null
    const message = error instanceof Error ? error.message : String(error)
    result.ended = known ?? toJudgingEnd('unreachable', `its job failed: ${message}`)
    return { result, error: known === null ? error : null }
  }
}

function formatUserError({ message, place: errorPlace, fix }: UserError): string {
  const where = errorPlace?.path === undefined ? '' : `${errorPlace.path}: `
  return `${where}${message}${fix === undefined ? '' : `; ${fix}`}`
}

async function askForScores(
  { job, cloned: { repository, loaded }, items }: JudgeJobContext,
  request: PendingJudging,
  { result, spentUsd, signal }: { result: GivenScores; spentUsd: number; signal: AbortSignal },
): Promise<GivenScores['ended']> {
  const { campaign } = loaded
  const live = campaign.orders[request.order]
  if (live === undefined || live.report !== null) return null
  if ('unusable' in items) return toJudgingEnd('unreachable', items.unusable)
  const printed = items.find(({ key }) => key === request.key)?.printed
  if (printed === undefined) return toJudgingEnd('unreachable', 'the tick job passed no items to score')
  const spec = await readSpecForOrder(repository, campaign, live.order)
  const scoring = computeScoringState(live, spec, printed)
  if ('report' in scoring) return null
  const access = await readJudgeAccess(job.env, spec, scoring.due)
  result.model = formatModels(access)
  const cut = await scoreBatches(job, {
    ...scoring,
    known: live.scores?.records ?? [],
    access,
    capUsd: request.may_cost_usd,
    spentUsd,
    record(more, { requests, tokens, usd }) {
      result.records.push(...more)
      Object.assign(result, { requests, tokens, usd: usd ?? 0 })
    },
    signal,
  })
  if (cut === null) return null
  return toJudgingEnd(cut.is === 'over-budget' ? 'set-aside' : cut.is, cut.reason)
}

function toJudgingEnd(is: JudgingEnd, reason: string): GivenScores['ended'] {
  return { is, reason: toOneLine(reason, 500) }
}

async function readFileBytes(path: string, most: number): Promise<Uint8Array | string> {
  if (path === '') return 'there is no file of items'
  let file
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (isMissing(error)) return 'there is no file of items'
    if (error instanceof Error && 'code' in error && error.code === 'ELOOP')
      return 'the file of items is a link'
    throw error
  }
  try {
    const stat = await file.stat()
    if (!stat.isFile()) return 'the file of items is no file'
    if (stat.size > most) return `the file of items has ${stat.size} bytes, more than ${most}`
    return await file.readFile()
  } finally {
    await file.close()
  }
}
