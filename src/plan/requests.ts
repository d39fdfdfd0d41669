import { ASKING_FAILED } from '../model/alerts.ts'
import { hashSha256, toCanonicalJson } from '../model/canonical-json.ts'
import type { EventDraft } from '../model/event.ts'
import { listPendingProposals } from '../model/fold/proposers.ts'
import type { ModelCost } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { type PlanStep, raiseAlert } from './action.ts'
import { NO_COST, type SpendingPurpose } from './money.ts'
import type { World } from './world.ts'

// Requests to the jobs that ask programs and models. An order is the request of a measuring job (orders.ts).

/** Below GitHub's limit for a job (360 minutes). */
const MAX_JOB_MINUTES = 350

/** Covers the wait for a machine and its set-up. */
const JOB_START_MINUTES = 30

export function limitJobMinutes(seconds: number): number {
  return Math.min(MAX_JOB_MINUTES, Math.ceil(seconds / 60) + JOB_START_MINUTES)
}

/** A text gradient asks about several artifacts, and waits for busy models. */
const TEXT_GRADIENT_SECONDS = 1800

/** The time of the slowest proposer. */
export function computeProposeSeconds({ propose }: Pick<Spec, 'propose'>): number {
  const seconds = propose.map(proposer => {
    if (proposer.use === 'textgrad') return TEXT_GRADIENT_SECONDS
    return proposer.use === 'command' ? proposer.timeout_seconds : 0
  })
  return Math.max(0, ...seconds)
}

interface NewRequest {
  cause: string
  /** Identifies one request for good. */
  nonce: string
  until: string
}

/** Invariant 7: key and deadline are an event before any job answers, so concurrent runs pay once. */
export function draftRequest(
  { campaign, now }: Pick<World, 'campaign' | 'now'>,
  about: string,
  jobMinutes: number,
): NewRequest {
  const cause = `${about} at ${campaign.seq}`
  const nonce = hashSha256(toCanonicalJson([campaign.started, cause])).slice(0, 16)
  const until = Date.parse(now) + (jobMinutes + JOB_START_MINUTES) * 60_000
  return { cause, nonce, until: new Date(until).toISOString() }
}

/** Doubles the delay with each failure. */
export function computeRetryDelay(failures: number, { first, longest }: Record<'first' | 'longest', number>) {
  return Math.min(longest, first * 2 ** failures)
}

/** A lost request does not count against its proposer. If its cost is unknown, it costs the amount set aside (invariant 5). */
export function closeLostRequests(world: World): PlanStep[] {
  const losses = new Map(world.lost.map(loss => [loss.key, loss]))
  const answered = new Set([...world.answers, ...world.scores].map(({ key }) => key))
  const explainLoss = ({ key, until }: { key: string; until: string }): World['lost'][number] | null => {
    if (answered.has(key)) return null
    const isOverdue = Date.parse(until) <= Date.parse(world.now)
    return losses.get(key) ?? (isOverdue ? { key, reason: `its job has not answered by ${until}` } : null)
  }
  const proposals = listPendingProposals(world.campaign).flatMap((request): PlanStep[] => {
    const { key, who, may_cost_usd } = request
    const loss = explainLoss(request)
    if (loss === null) return []
    const { reason, cost } = loss
    const lost = toEventStep({ kind: 'proposal-lost', cause: key, key, reason })
    const charge = cost ?? (may_cost_usd === null ? NO_COST : { ...NO_COST, usd: may_cost_usd })
    return [
      lost,
      ...(charge.usd > 0 || charge.requests > 0 ? [buildLossCharge(key, 'propose', charge)] : []),
      ...(cost === undefined ? [] : reportUnaskedModel(world, who, reason)),
    ]
  })
  const judgings = Object.values(world.campaign.judging).flatMap((request): PlanStep[] => {
    const { key, order, may_cost_usd } = request
    const loss = explainLoss(request)
    if (loss === null) return []
    const { reason } = loss
    return [
      toEventStep({ kind: 'judging-lost', cause: key, key, order, reason }),
      buildLossCharge(key, 'judge', { ...NO_COST, usd: may_cost_usd ?? 0 }),
      ...reportFailingJudges(world, order, reason),
    ]
  })
  return [...proposals, ...judgings]
}

function buildLossCharge(cause: string, what: SpendingPurpose, cost: ModelCost): PlanStep {
  return toEventStep({ kind: 'spent', cause, what, who: null, ok: false, minutes: 0, ...cost })
}

/** An answer clears the alert. */
function reportUnaskedModel(world: World, who: string, reason: string): PlanStep[] {
  return raiseAlert(world, { code: ASKING_FAILED, about: null, message: `${who}: ${reason}. winnow retries` })
}

export function reportFailingJudges(world: World, order: string, reason: string): PlanStep[] {
  if (world.campaign.orders[order] === undefined) return []
  const message = `winnow could not request scores from models: ${reason}. winnow retries`
  return raiseAlert(world, { code: 'judging-failed', about: order, message })
}

export function toEventStep(draft: EventDraft): Extract<PlanStep, { step: 'event' }> {
  return { step: 'event', draft }
}
