import { toCanonicalJson, hashSha256 } from '../model/canonical.ts'
import type { EventDraft } from '../model/event.ts'
import { collectHandedOutIdeas, listPendingProposals } from '../model/fold-asking.ts'
import { buildCommandKey } from '../model/fold-proposer.ts'
import type { Spec } from '../spec/schema.ts'
import type { PlanStep } from './action.ts'
import { selectNextAngle } from './angles.ts'
import { selectNextIdea } from './backlog.ts'
import type { World } from './world.ts'

/** Below what GitHub allows a job. */
const MAX_PROPOSE_JOB_MINUTES = 350
/** Until the job has a machine, and that has its tools. */
const PROPOSE_JOB_START_MINUTES = 30

/** What a job may take that asks them all at once: as long as the slowest of them, and what comes before. */
export function computeProposeMinutes({ propose }: Pick<Spec, 'propose'>): number {
  const seconds = propose.map(one => (one.use === 'command' ? one.timeout_seconds : 0))
  return Math.min(
    MAX_PROPOSE_JOB_MINUTES,
    Math.ceil(Math.max(0, ...seconds) / 60) + PROPOSE_JOB_START_MINUTES,
  )
}

/**
 * Invariant 7: who is to be asked, for what and on which commit is an event before any job asks, so that two
 * wake-ups ask nobody twice. Nobody waits for the job longer than it could take, and could wait for its machine.
 */
export function requestProposalJob({ campaign, spec, now }: World, who: readonly string[]): PlanStep[] {
  const handed = collectHandedOutIdeas(campaign)
  const angles = new Set(listPendingProposals(campaign).flatMap(({ angle }) => angle ?? []))
  const until = new Date(
    Date.parse(now) + (computeProposeMinutes(spec) + PROPOSE_JOB_START_MINUTES) * 60_000,
  ).toISOString()
  return who.map((name, at): PlanStep => {
    const cause = `asking ${at} at ${campaign.seq}`
    const key = buildCommandKey(name, hashSha256(toCanonicalJson([campaign.started, cause])).slice(0, 16))
    const idea = selectNextIdea(campaign, { who: name, handed })
    if (idea !== null) handed.add(idea.id)
    const look = idea === null ? selectNextAngle(campaign, spec, angles) : null
    if (look !== null) angles.add(look)
    const carries = idea === null ? {} : { carries: idea.id }
    const angle = look === null ? {} : { angle: look }
    const about = { key, who: name, base: campaign.incumbent, until, ...carries, ...angle }
    return { step: 'event', draft: { kind: 'idea-asked', cause, ...about } }
  })
}

/** The others are not ours to end: what they answer is taken in, and what it cost with it. */
export function listLocalRequests({ asking, campaign }: World): string[] {
  return asking.slice(0, asking.length - listPendingProposals(campaign).length)
}

/** An asking whose job was cancelled, or never got a machine, holds nobody up for ever: it says nothing of who was asked. */
export function closeLostRequests({ campaign, now, unanswered }: World): PlanStep[] {
  const overdue = listPendingProposals(campaign).filter(({ until }) => Date.parse(until) <= Date.parse(now))
  const lost = new Map(overdue.map(({ key, until }) => [key, `its job has not answered by ${until}`]))
  for (const { key, reason } of unanswered) lost.set(key, reason)
  return [...lost].map(([key, reason]): PlanStep => {
    const draft: EventDraft<'asking-lost'> = { kind: 'asking-lost', cause: key, key, reason }
    return { step: 'event', draft }
  })
}
