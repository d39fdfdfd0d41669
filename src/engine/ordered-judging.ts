import { UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import { type HandedItems, type HandedScores, readItems } from '../judge/handed-on.ts'
import type { AskedScores } from '../model/asked.ts'
import type { Campaign } from '../model/campaign.ts'
import type { JudgingEnd } from '../model/judging-end.ts'
import { oneLine } from '../model/landing.ts'
import type { Clock, Progress, Random } from '../ports.ts'
import { FIRST_ATTEMPT } from './actions/run-role.ts'
import { scoringOf } from './actions/scored-order.ts'
import { campaignInClone, type JobClone, openJobClone } from './job-clone.ts'
import { modelAccess } from './model-access.ts'
import { orderSpec } from './order-spec.ts'
import { score } from './scoring.ts'

/** What one run's tick wrote into the ledger to be scored, in a job of its own: it reads a clone and writes nothing. */
export interface JudgingJob extends JobClone {
  campaign: string
  runId: string
  attempt: number
  /** What that tick handed on. */
  items: string
  clock: Clock
  random: Random
  progress: Progress
  signal: AbortSignal
}

type Told = HandedScores['judgings'][number]

/** Any prefix would do: nothing is written. */
const PREFIX = 'optimize'
/** Until what was told is handed over and taken in. */
const MARGIN_MS = 15 * 60_000

/** Broken: what was no answer of anybody, where there was such a thing; what was told beside it is told. */
export type Judged = { scores: HandedScores; broken: unknown } | { nobody: string }

/**
 * Which orders, by which rubric and for how much is read from the ledger: whoever starts a job can only name the campaign.
 * What is set aside for an asking is set aside once, so that only the first attempt of its run asks (invariant 7).
 */
export async function judgeOrdered(job: JudgingJob): Promise<Judged> {
  if (job.attempt !== FIRST_ATTEMPT)
    return {
      nobody: 'this run was started again, and its first attempt alone asks models; the next wake-up does',
    }
  const { repository } = await openJobClone(job, PREFIX)
  try {
    const { loaded } = await campaignInClone(repository, job.campaign)
    const { campaign } = loaded
    const now = job.clock.now()
    const own = Object.values(campaign.judging).filter(
      ({ run_id, until }) => run_id === job.runId && Date.parse(until) > now,
    )
    if (own.length === 0) return { nobody: `this run has nothing to score for campaign ${campaign.name}` }
    const handed = await readItems(job.items)
    const { judgings, broken } = await scoresOfAll({ job, repository, campaign, handed }, own)
    const scores = { winnow: 1, campaign: campaign.name, started: campaign.started, judgings } as const
    return { scores, broken }
  } finally {
    await repository.close()
  }
}

interface Scene {
  job: JudgingJob
  repository: Repository
  campaign: Campaign
  handed: HandedItems | { unusable: string }
}

/** One order after the other: what is waited for longest comes first. */
async function scoresOfAll(
  scene: Scene,
  own: readonly AskedScores[],
): Promise<{ judgings: Told[]; broken: unknown }> {
  const judgings: Told[] = []
  let broken: unknown = null
  let over = 0
  for (const asking of own) {
    const began = scene.job.clock.monotonic()
    const { told, error } = await scoresOf(scene, asking, over)
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
async function scoresOf(
  scene: Scene,
  asking: AskedScores,
  spentUsd: number,
): Promise<{ told: Told; error: unknown }> {
  const { job } = scene
  const { key, order } = asking
  const told: Told = { key, order, model: '', records: [], requests: 0, tokens: 0, usd: 0, ended: null }
  const timely = AbortSignal.timeout(Math.max(0, Date.parse(asking.until) - MARGIN_MS - job.clock.now()))
  const signal = AbortSignal.any([job.signal, timely])
  try {
    told.ended = await ask(scene, asking, { told, spentUsd, signal })
    return { told, error: null }
  } catch (error) {
    const known = job.signal.aborted
      ? ended('late', 'its job was cancelled')
      : timely.aborted
        ? ended('late', 'its time was up')
        : error instanceof UserError
          ? ended('refused', refusalText(error))
          : null
    told.ended = known ?? ended('unreachable', `its job broke: ${messageOf(error)}`)
    return { told, error: known === null ? error : null }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function refusalText({ message, place, fix }: UserError): string {
  const where = place?.path === undefined ? '' : `${place.path}: `
  return `${where}${message}${fix === undefined ? '' : `; ${fix}`}`
}

async function ask(
  { job, repository, campaign, handed }: Scene,
  asking: AskedScores,
  { told, spentUsd, signal }: { told: Told; spentUsd: number; signal: AbortSignal },
): Promise<Told['ended']> {
  const live = campaign.orders[asking.order]
  if (live === undefined || live.report !== null) return null
  if ('unusable' in handed) return ended('unreachable', handed.unusable)
  const printed = handed.orders.find(({ key }) => key === asking.key)?.printed
  if (printed === undefined) return ended('unreachable', 'what is to be scored was not handed on')
  const spec = await orderSpec(repository, campaign, live.order)
  const scoring = scoringOf(live, spec, printed)
  if ('report' in scoring) return null
  const access = modelAccess(job.env, scoring.due.judge.model)
  told.model = access.model
  const { cut } = await score({
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
  return ended(cut.is === 'over-budget' ? 'set-aside' : cut.is, cut.reason)
}

function ended(is: JudgingEnd, reason: string): Told['ended'] {
  return { is, reason: oneLine(reason, 500) }
}
