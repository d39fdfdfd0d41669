import { describeStop } from '../model/describe-status.ts'
import { judgingStop, type Stop, stopReason } from '../decide/stopping.ts'
import { targetsMet, targetsShown } from '../decide/targets.ts'
import { plural } from '../decide/wording.ts'
import type { Experiment } from '../model/experiment.ts'
import { experimentsOf } from '../model/experiments.ts'
import type { Campaign, LiveOrder } from '../model/campaign.ts'
import type { EventDraft } from '../model/event.ts'
import type { ExperimentId } from '../model/ids.ts'
import { resumesByItself } from '../model/resumes-by-itself.ts'
import { subjectOf } from '../model/picked.ts'
import { withAside } from '../model/reason.ts'
import { awaitsSync } from '../model/sync-awaited.ts'
import type { Action, Step } from './action.ts'
import type { Arrivals } from './arrivals.ts'
import { cutShort } from './cut-short.ts'
import { closesIdeas, isPutAside, pickGoesOn, stopAfterEncore } from './encore.ts'
import { setAsideMinutes } from './effect-subjects.ts'
import { finalSteps, notSelected, requeueStep } from './ending.ts'
import { mayKeep } from './heads.ts'
import { freshProposals } from './intake.ts'
import { type Member, memberOf } from './member.ts'
import { closePick, isPicking, verdictOn } from './picks.ts'
import { comparing, type ComparingFacts } from './orders.ts'
import { measuresNoMore } from './rounds.ts'
import { isKeptOut } from './strangers.ts'
import type { World } from './world.ts'

export type StopReason = Pick<EventDraft<'campaign-stopped'>, 'code' | 'reason'>

const HOUR = 3_600_000

type LimitFacts = ComparingFacts & Pick<World, 'now'>

/** Why the campaign stops now; asked between rounds only, so that a round is never cut in half. */
export function stopFor(world: World): StopReason | null {
  return world.campaign.encore === null ? ruleThatHolds(world) : stopAfterEncore(world)
}

export function ruleThatHolds(world: World): Stop | null {
  return ruleWith(world, isBacklogEmpty(world))
}

/** The limit that stops a running campaign at its next look; whether ideas are left is for that look to find. */
export function limitReached(facts: LimitFacts): Stop | null {
  const { status, encore } = facts.campaign
  return status === 'running' && encore === null ? ruleWith(facts, false) : null
}

function ruleWith(facts: LimitFacts, backlogEmpty: boolean): Stop | null {
  const { campaign, spec } = facts
  return (
    judgingStop(spec, campaign.spent.usd) ??
    usedUp(facts) ??
    stopReason(spec, {
      ended: campaign.ended,
      uncounted: experimentsOf(campaign).filter(each => each.status === 'ended' && !each.counted).length,
      endedSinceIncumbent: campaign.since_incumbent,
      failures: campaign.failures,
      hours: hoursOf(facts),
      runnerMinutes: campaign.spent.minutes,
      setAsideMinutes: setAsideMinutes(facts),
      costUsd: campaign.spent.usd,
      targetReached: targetReached(facts),
      backlogEmpty,
    })
  )
}

function isBacklogEmpty(world: World): boolean {
  return (
    nothingToMeasure(world) &&
    world.askable.length + world.asking.length === 0 &&
    deferredExperiments(world).length === 0 &&
    !experimentsOf(world.campaign).some(awaitsSync)
  )
}

/** Since the campaign began, but for the time it waited for other processes of its machine. */
function hoursOf({ campaign: { started_at, waited_seconds }, now }: LimitFacts): number {
  if (started_at === null) return 0
  return Math.max(0, Date.parse(now) - Date.parse(started_at) - 1000 * waited_seconds) / HOUR
}

export function stopStep({ campaign }: World, stop: StopReason): Step {
  return {
    step: 'event',
    draft: { kind: 'campaign-stopped', cause: `stop at ${campaign.seq}`, ...stop },
  }
}

/** As many were tested as the level was planned for, parked ones among them. */
function usedUp(world: LimitFacts): ReturnType<typeof stopReason> {
  if (!measuresNoMore(world)) return null
  const tested = plural(world.campaign.level.tests, 'experiment')
  const reason = `${tested} tested, as many as the error budget was planned for (stopping.max_iterations)`
  return { code: 'level_used_up', reason }
}

/** Numbers of another tree than the incumbent's say nothing about it (invariant 5). */
function targetReached(world: LimitFacts): boolean {
  const { baseline, incumbent } = world.campaign
  if (baseline === null || baseline.tree !== incumbent.tree) return false
  const met = comparing(world)?.by === 'pairs' ? targetsShown : targetsMet
  return met(world.spec, baseline.snapshot)
}

/** No idea is queued, open or proposed; ideas that wait for a person or for `retry` do not count. */
export function nothingToMeasure(world: World): boolean {
  const open = experimentsOf(world.campaign).some(
    experiment => isAtHand(experiment) && !isKeptOut(world, experiment.id) && !awaitsSync(experiment),
  )
  return !open && !isPicking(world) && freshProposals(world).length + world.unopened === 0
}

function isAtHand(experiment: Experiment): boolean {
  const { status } = experiment
  if (status === 'parked') return resumesByItself(experiment)
  return status !== 'ended' && status !== 'deferred'
}

export function deferredExperiments({ campaign }: World): ExperimentId[] {
  return experimentsOf(campaign).flatMap(({ id, status }) => (status === 'deferred' ? [id] : []))
}

/**
 * After a stop every verdict that is due is given, and ideas without one are put back: they are measured once the campaign
 * is resumed. Only a campaign that is put aside closes them.
 */
export function closeRemaining(world: World, found: Arrivals): Step[] {
  const end = closesIdeas(world) ? closeOne : settleOne
  const experiments = experimentsOf(world.campaign).flatMap(experiment =>
    experiment.status === 'ended' ? [] : end(world, experiment, found),
  )
  return [...experiments, ...closePicks(world, found)]
}

const RESTS: ReadonlySet<Experiment['status']> = new Set(['queued', 'deferred'])

function settleOne(world: World, experiment: Experiment, found: Arrivals): Step[] {
  if (RESTS.has(experiment.status)) return []
  const member = lastSaid(world, experiment, found)
  const { judgement, measured } = member
  if (judgement?.is === 'final') return finalSteps(world.campaign, member)
  if (experiment.status === 'parked' || judgement?.is === 'parked') return closeOne(world, experiment, found)
  const stopped = describeStop(world.campaign)
  const known = judgement?.is === 'eligible' ? judgement.assessment.reason : judgement?.reason
  const reason = withAside(known, measured === null ? `${stopped} before it was measured` : stopped)
  const cause = measured === null ? (experiment.order ?? member.cause) : member.cause
  return [requeueStep({ experiment, cause }, 'stopped', reason)]
}

function closePicks(world: World, found: Arrivals): Step[] {
  const { campaign } = world
  const aside = Object.values(campaign.picks).filter(
    pick => pick.status === 'ended' && !pick.closed && isPutAside(campaign),
  )
  const open = Object.values(campaign.picks).filter(
    pick => pick.status !== 'ended' && !pickGoesOn(campaign, pick),
  )
  const put = aside.map(pick => closePick(pick, null, ''))
  const ended = open.flatMap(pick => {
    const said = verdictOn(world, memberOf(world, pick, found.reports))
    const reason = `${describeStop(campaign)} before it was measured`
    return said.length > 0 ? said : [closePick(pick, null, reason)]
  })
  return [...put, ...ended]
}

function closeOne(world: World, experiment: Experiment, found: Arrivals): Step[] {
  const { id, status } = experiment
  const reason = describeStop(world.campaign)
  const member = lastSaid(world, experiment, found)
  if (member.judgement?.is === 'final') return finalSteps(world.campaign, member)
  if (member.judgement?.is === 'eligible') return notSelected(member, reason)
  const keep = mayKeep(world, experiment)
  const unproven = member.judgement?.is === 'more' || member.judgement?.is === 'parked'
  return status === 'parked' || unproven
    ? [
        {
          step: 'close',
          experiment: id,
          outcome: 'inconclusive',
          reason: withAside(lastReason(member), `${reason} before it was proven`),
          keep,
        },
      ]
    : [
        {
          step: 'close',
          experiment: id,
          outcome: 'withdrawn',
          reason: `${reason} before it was measured`,
          keep,
        },
      ]
}

/** What its pairs came to so far: the end of the campaign takes none of that back. */
function lastReason({ judgement, experiment }: Member): string | undefined {
  if (judgement?.is === 'more' || judgement?.is === 'parked') return judgement.reason
  return experiment.reason ?? undefined
}

/** Its latest report, or while it is measured again in a combination, the one that made it eligible. */
function lastSaid(world: World, experiment: Experiment, found: Arrivals): Member {
  const member = memberOf(world, experiment, found.reports)
  if (member.judgement !== null || experiment.standalone === null) return member
  return memberOf(world, { ...experiment, order: experiment.standalone }, found.reports)
}

function goesOn(campaign: Campaign, label: string): boolean {
  const pick = campaign.picks[label]
  return pick !== undefined && pickGoesOn(campaign, pick)
}

/** Pairs of ideas that a stop interrupts: they wait with what was measured of them. */
export function interruptRemaining(world: World, found: Arrivals): { steps: Step[]; actions: Action[] } {
  const cut = openOrders(world.campaign, found).flatMap(live => {
    const isOwn = live.order.candidates.every(({ label }) => !subjectOf(world.campaign, label))
    return isOwn ? [] : cutShort(world, live, 'the campaign stopped')
  })
  const actions = cut.flatMap(({ draft }): Action[] =>
    draft.kind === 'order-lost' ? [{ do: 'cancel', order: draft.order }] : [],
  )
  return { steps: cut, actions }
}

/** Orders still under way: nobody waits for them any more. */
export function cancelRemaining({ campaign }: World, found: Arrivals): { steps: Step[]; actions: Action[] } {
  const open = openOrders(campaign, found)
  const own = open.filter(({ order }) => order.candidates.every(({ label }) => !subjectOf(campaign, label)))
  return {
    steps: own.map(({ order: { id } }) => {
      const reason = 'the campaign stopped'
      return { step: 'event', draft: { kind: 'order-lost', cause: id, order: id, started: false, reason } }
    }),
    actions: open.map(({ order: { id } }) => ({ do: 'cancel', order: id })),
  }
}

function openOrders(campaign: Campaign, found: Arrivals): LiveOrder[] {
  return Object.values(campaign.orders).filter(
    ({ order: { id, purpose, candidates } }) =>
      !found.reports.has(id) &&
      !found.lost.has(id) &&
      !(purpose === 'progression' && !isPutAside(campaign)) &&
      !candidates.some(({ label }) => goesOn(campaign, label)),
  )
}
