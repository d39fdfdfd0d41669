import { UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import { type HandedItems, type HandedScores, readItems } from '../judge/handed-on.ts'
import type { AskedScores, Campaign } from '../model/campaign.ts'
import type { JudgingEnd } from '../model/judging-end.ts'
import { oneLine } from '../model/landing.ts'
import type { Clock, Progress, Random } from '../ports.ts'
import { scoringOf } from './actions/scored-order.ts'
import { campaignInClone, type JobClone, openJobClone } from './job-clone.ts'
import { modelAccess } from './model-access.ts'
import { orderSpec } from './order-spec.ts'
import { score } from './scoring.ts'

/** What one run's tick wrote into the ledger to be scored, in a job of its own: it reads a clone and writes nothing. */
export interface JudgingJob extends JobClone {
  campaign: string
  runId: string
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

/** Which orders, by which rubric and for how much is read from the ledger: whoever starts a job can only name the campaign. */
export async function judgeOrdered(job: JudgingJob): Promise<HandedScores | { nobody: string }> {
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
    const judgings: Told[] = []
    // One order after the other: what is waited for longest comes first.
    for (const asking of own) judgings.push(await scoresOf({ job, repository, campaign, handed }, asking))
    return { winnow: 1, campaign: campaign.name, started: campaign.started, judgings }
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

/** Whatever comes between ends this asking with what was told until then: it was paid for. */
async function scoresOf(scene: Scene, asking: AskedScores): Promise<Told> {
  const { job } = scene
  const { key, order } = asking
  const told: Told = { key, order, model: '', records: [], requests: 0, tokens: 0, usd: 0, ended: null }
  const timely = AbortSignal.timeout(Math.max(0, Date.parse(asking.until) - MARGIN_MS - job.clock.now()))
  try {
    told.ended = await ask(scene, asking, { told, signal: AbortSignal.any([job.signal, timely]) })
  } catch (error) {
    if (job.signal.aborted) told.ended = { is: 'late', reason: 'its job was cancelled' }
    else if (timely.aborted) told.ended = { is: 'late', reason: 'its time was up' }
    else if (error instanceof UserError) told.ended = { is: 'refused', reason: refusalText(error) }
    else throw error
  }
  const ended = told.ended === null ? '' : `; ${told.ended.reason}`
  job.progress.say(`order ${order.slice(0, 12)}: ${told.records.length} scores asked for${ended}`)
  return told
}

function refusalText({ message, place, fix }: UserError): string {
  const where = place?.path === undefined ? '' : `${place.path}: `
  return oneLine(`${where}${message}${fix === undefined ? '' : `; ${fix}`}`, 500)
}

async function ask(
  { job, repository, campaign, handed }: Scene,
  asking: AskedScores,
  { told, signal }: { told: Told; signal: AbortSignal },
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
    spentUsd: 0,
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
