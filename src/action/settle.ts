import { z } from 'zod'
import type { KnownCampaign } from '../cli/known-campaigns.ts'
import type { Call } from '../cli/verb.ts'
import type { AskingJobs } from '../engine/controller/github-tick.ts'
import type { EndedJob, EndedRun } from '../engine/jobs/github-runs.ts'
import { UserError } from '../errors.ts'
import { digestSchema, type OrderId } from '../model/ids.ts'
import { MAX_ORDERS_PER_RUN } from '../model/job-file.ts'
import { isRetryTitle } from '../report/github-names.ts'
import {
  buildJobEnvironment,
  createCall,
  type GithubJob,
  isPaused,
  NO_CAMPAIGNS,
  readDispatchTitle,
  readGithubJob,
  reportPaused,
} from './github-job.ts'
import { findMeasuringCampaign } from './job.ts'
import { parseJsonText } from './outputs.ts'
import type { Task } from './root-pipe.ts'
import { readCampaigns, takeTurns } from './tick.ts'

/** Last job of a run: records the results of the others, then ticks. Replaces a lost first job. */
export async function settleOnGithub(task: Task): Promise<number> {
  if (isPaused(task.env)) return reportPaused({ paused: true, ...NO_CAMPAIGNS })
  const job = readGithubJob(task)
  return settleCampaigns(task, job, buildJobEnvironment(task, job))
}

export async function settleCampaigns(
  task: Task,
  job: GithubJob,
  environment: Call['environment'],
): Promise<number> {
  const { campaigns: names, ended, has, isTickLost } = readNeeds(task.inputs.jobs)
  const { known, opened } = await readCampaigns(createCall(environment, {}), job)
  const measuring = findMeasuringCampaign(task.env, known)
  const own = measuring === undefined ? known : [measuring]
  const isDue = ({ name }: KnownCampaign) => names.includes(name)
  const campaigns = [...known.filter(isDue), ...(isTickLost ? own.filter(each => !isDue(each)) : [])]
  const next = { propose: false, judge: false }
  const nextLook = isTickLost ? decideNextLook(job) : 'usual'
  return takeTurns(task, {
    environment: { ...environment, opened },
    campaigns,
    run: { does: { settle: ended }, next, has, nextLook },
    due: names,
  })
}

/**
 * The ledger counts lost orders, and too many of them delay the next run. A tick that was lost before its
 * first request leaves no record to count. So a run that was started after such a loss starts no further
 * retry.
 */
function decideNextLook(job: GithubJob): 'retry' | 'none' {
  return isRetryTitle(readDispatchTitle(job)) ? 'none' : 'retry'
}

// Results of the earlier jobs

export interface EndedJobs {
  campaigns: string[]
  ended: EndedRun
  /** Jobs that this workflow file has. */
  has: AskingJobs
  /** The job tick failed or was cancelled. It may have written events without setting outputs. */
  isTickLost: boolean
}

const job = z.strictObject({
  result: z.enum(['success', 'failure', 'cancelled', 'skipped']),
  outputs: z.record(z.string(), z.string()),
})
type NeedsJob = z.output<typeof job>

const needs = z.record(z.string(), job)

const matrix = z
  .array(
    z.strictObject({
      slot: z.int().min(0).lt(MAX_ORDERS_PER_RUN),
      order: digestSchema,
      title: z.string(),
    }),
  )
  .max(MAX_ORDERS_PER_RUN)
  .refine(all => new Set(all.map(({ slot }) => slot)).size === all.length, 'two orders have one slot')
  .refine(all => new Set(all.map(({ order }) => order)).size === all.length, 'an order has two slots')

/** Reads `toJSON(needs)`: results and outputs of the earlier jobs. */
export function readNeeds(text: string): EndedJobs {
  const jobs = parseJobsInput(needs, text, 'the input jobs')
  const tick = jobs['tick']
  if (tick === undefined)
    throw new UserError('the input jobs does not contain the job tick', {
      fix: 'give the settling job `needs` with tick in it, and the input jobs: ${{ toJSON(needs) }}',
    })
  const { campaign = '', orders = '', propose = '', judge = '' } = tick.outputs
  const measuring = Object.entries(jobs).flatMap(([name, each]) =>
    /^measure(?:-|$)/.test(name) ? [each] : [],
  )
  const measured = new Map<OrderId, EndedJob>()
  if (orders !== '')
    for (const { slot, order } of parseJobsInput(matrix, orders, 'the output orders of the job tick'))
      measured.set(order, findSlotJob(measuring, slot))
  const isTickLost = tick.result !== 'success'
  // A lost tick may have recorded requests that no job of this run sent.
  const isDue = (output: string) => output !== '' || isTickLost
  return {
    campaigns: [...new Set([campaign, propose, judge])].filter(name => name !== ''),
    ended: {
      measured,
      proposed: isDue(propose) ? toEndedJob(jobs['propose']) : null,
      judged: isDue(judge) ? toEndedJob(jobs['judge']) : null,
    },
    has: { propose: jobs['propose'] !== undefined, judge: jobs['judge'] !== undefined },
    isTickLost,
  }
}

function parseJobsInput<T>(schema: z.ZodType<T>, text: string, what: string): T {
  const read = schema.safeParse(parseJsonText(text))
  if (read.success) return read.data
  const [issue] = read.error.issues
  const where = issue?.path.join('.') || 'it'
  throw new UserError(`${what} is not valid (${where}: ${issue?.message})`, {
    fix: 'give the settling job the input jobs: ${{ toJSON(needs) }}, as winnow init --github writes it',
  })
}

const SHA256 = /^[0-9a-f]{64}$/
const SLOT = /^(success|failure|cancelled) ?([0-9a-f]{64})?$/

/** Only the matrix job of this slot sets the output `slot-N`. */
function findSlotJob(measuring: readonly NeedsJob[], slot: number): EndedJob {
  const values = measuring.flatMap(({ outputs }) => {
    const value = outputs[`slot-${slot}`] ?? ''
    return value === '' ? [] : [value]
  })
  const [only = '', ...others] = values
  const [, status = '', digest = null] = SLOT.exec(others.length === 0 ? only : '') ?? []
  return { status, digest }
}

function toEndedJob(ended: NeedsJob | undefined): EndedJob {
  const digest = ended?.outputs['digest'] ?? ''
  return { status: ended?.result ?? '', digest: SHA256.test(digest) ? digest : null }
}
