import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { UserError } from '../../errors.ts'
import { type GivenScores, type ItemsToJudge, itemsToJudgeSchema } from '../../judge/judged-report.ts'
import { isMissing } from '../../measure/file-system.ts'
import type { PendingJudging } from '../../model/campaign.ts'
import type { JudgingEnd } from '../../model/event-schemas.ts'
import { MAX_FILE_BYTES, parseJobFile } from '../../model/job-file.ts'
import { toOneLine } from '../../model/text.ts'
import { FIRST_ATTEMPT } from './github-runs.ts'
import {
  handleRequests,
  type ClonedCampaign,
  type JobAnswers,
  type JobEnvironment,
  limitRequest,
} from './job-clone.ts'
import { computeScoringState, readModelAccess, scoreBatches } from './judging.ts'
import { readSpecForOrder } from './load-order.ts'

interface JudgeJob extends JobEnvironment {
  items: string
}

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
  const access = readModelAccess(job.env, scoring.due.judge.model)
  result.model = access.model
  const { cut } = await scoreBatches({
    ...scoring,
    known: live.scores?.records ?? [],
    access,
    capUsd: request.may_cost_usd,
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
