import {
  areTargetsMet,
  areTargetsShown,
  findMoneyStop,
  findStopReason,
  type StopRuleHit,
} from '../decide/stop-rules.ts'
import { formatCount } from '../decide/wording.ts'
import {
  findRaiseObstacle,
  findRefusedSyncAlert,
  isAwaitingSync,
  RAISED_LIMIT_READABLE,
} from '../model/alerts.ts'
import type { Campaign, LiveOrder } from '../model/campaign.ts'
import type { EventDraft } from '../model/event.ts'
import { type Experiment, findSubject, isResumedAutomatically, listExperiments } from '../model/experiment.ts'
import { MERGED_CAUSE } from '../model/fold/fold.ts'
import { toShortRef } from '../model/ids.ts'
import type { OrderCandidate } from '../model/order.ts'
import { describeStop, isMovable } from '../model/status.ts'
import { appendToSentence } from '../model/text.ts'
import type { Spec } from '../spec/schema.ts'
import { type PlanAction, type PlanStep, raiseAlert } from './action.ts'
import { canKeepHead } from './branch-changes.ts'
import { computeReservedMinutes } from './effects.ts'
import { findLastEpoch } from './epochs.ts'
import { findExtraRoundStop, isArchivedStop, isClosingIdeas, isPickContinued } from './extra-round.ts'
import { listNewProposals } from './intake.ts'
import { buildMember, type RoundMember } from './judgement.ts'
import { buildRequeueStep, closeMember, closeNotSelected } from './landing.ts'
import { type ComparingFacts, selectComparison } from './orders.ts'
import { needsPermission } from './permissions.ts'
import { closePick, isPicking, judgePick } from './picks.ts'
import { type IncomingReports, interruptRun } from './reports.ts'
import { isAlphaSpent } from './round-orders.ts'
import { describeObstacle } from './sync.ts'
import type { World } from './world.ts'

export type CampaignStop = Pick<EventDraft<'campaign-stopped'>, 'code' | 'reason'>

const HOUR_MILLISECONDS = 3_600_000

type LimitFacts = ComparingFacts & Pick<World, 'now'>

// Reasons to stop

/** Called only between rounds, so that no round is interrupted. */
export function findDueStop(world: World): CampaignStop | null {
  return world.campaign.extra_round === null ? findStopRule(world) : findExtraRoundStop(world)
}

export function findStopRule(world: World): StopRuleHit | null {
  return checkStopRules(world, isBacklogEmpty(world))
}

/** The limit that stops a running campaign at its next plan. Does not check whether ideas are left. */
export function findReachedLimit(facts: LimitFacts): StopRuleHit | null {
  const { status, extra_round } = facts.campaign
  return status === 'running' && extra_round === null ? checkStopRules(facts, false) : null
}

function checkStopRules(facts: LimitFacts, backlogEmpty: boolean): StopRuleHit | null {
  const { campaign, spec } = facts
  return (
    findMoneyStop(spec, campaign.spent) ??
    findSpentAlpha(facts) ??
    findLastEpoch(facts) ??
    findStopReason(spec, {
      ended: campaign.ended,
      uncounted: listExperiments(campaign).filter(each => each.status === 'ended' && !each.counted).length,
      endedSinceIncumbent: campaign.since_incumbent,
      failures: campaign.failures,
      hours: computeHours(facts),
      runnerMinutes: campaign.spent.minutes,
      setAsideMinutes: computeReservedMinutes(facts),
      costUsd: campaign.spent.usd,
      targetReached: isCampaignTargetReached(facts),
      backlogEmpty,
    })
  )
}

function isBacklogEmpty(world: World): boolean {
  if (!hasNothingToMeasure(world) || world.askable.length + world.asking.length > 0) return false
  return !listExperiments(world.campaign).some(each => each.status === 'deferred' || isAwaitingSync(each))
}

/** Hours since the campaign began, without the time it waited for other processes of its machine. */
function computeHours({ campaign: { started_at, waited_seconds }, now }: LimitFacts): number {
  if (started_at === null) return 0
  return Math.max(0, Date.parse(now) - Date.parse(started_at) - 1000 * waited_seconds) / HOUR_MILLISECONDS
}

export function buildStopStep({ campaign }: World, stop: CampaignStop): PlanStep {
  return { step: 'event', draft: { kind: 'campaign-stopped', cause: `stop at ${campaign.seq}`, ...stop } }
}

/** Experiments that are not proven count as tested. */
function findSpentAlpha(world: LimitFacts): ReturnType<typeof findStopReason> {
  if (!isAlphaSpent(world)) return null
  const tested = formatCount(world.campaign.error_budget.tests, 'experiment')
  const reason = `${tested} tested, as many as the error budget was planned for (stopping.max_iterations)`
  return { code: 'level_used_up', reason }
}

/** Numbers of another tree than the incumbent's say nothing about it (invariant 5). */
function isCampaignTargetReached(world: LimitFacts): boolean {
  const { baseline, incumbent } = world.campaign
  if (baseline === null || baseline.tree !== incumbent.tree) return false
  const met = selectComparison(world)?.by === 'pairs' ? areTargetsShown : areTargetsMet
  return met(world.spec, baseline.snapshot)
}

/** Ideas that wait for a person or for `retry` do not count. */
export function hasNothingToMeasure(world: World): boolean {
  const open = listExperiments(world.campaign).some(
    experiment =>
      isOpenIdea(experiment) && !needsPermission(world, experiment.id) && !isAwaitingSync(experiment),
  )
  return !open && !isPicking(world) && listNewProposals(world).length + world.unopened === 0
}

function isOpenIdea(experiment: Experiment): boolean {
  const { status } = experiment
  if (status === 'not-proven') return isResumedAutomatically(experiment)
  return status !== 'ended' && status !== 'deferred'
}

// The end of experiments and orders

/** Experiments without a verdict are queued again. Only an archived campaign closes them. */
export function closeRemaining(world: World, incoming: IncomingReports): PlanStep[] {
  const end = isClosingIdeas(world) ? closeUnsettled : settleExperiment
  const experiments = listExperiments(world.campaign).flatMap(experiment =>
    experiment.status === 'ended' ? [] : end(world, experiment, incoming),
  )
  return [...experiments, ...closePicks(world, incoming)]
}

const WAITING_STATUSES: ReadonlySet<Experiment['status']> = new Set(['queued', 'deferred'])

function settleExperiment(world: World, experiment: Experiment, incoming: IncomingReports): PlanStep[] {
  if (WAITING_STATUSES.has(experiment.status)) return []
  const member = getLastMember(world, experiment, incoming)
  const { judgement, measured } = member
  if (judgement?.is === 'final') return closeMember(world.campaign, member)
  if (experiment.status === 'not-proven' || judgement?.is === 'not-proven')
    return closeUnsettled(world, experiment, incoming)
  const stopped = describeStop(world.campaign)
  const known = judgement?.is === 'eligible' ? judgement.assessment.reason : judgement?.reason
  const reason = appendToSentence(known, measured === null ? `${stopped} before it was measured` : stopped)
  const cause = measured === null ? (experiment.order ?? member.cause) : member.cause
  return [buildRequeueStep({ experiment, cause }, 'stopped', reason)]
}

function closePicks(world: World, incoming: IncomingReports): PlanStep[] {
  const { campaign } = world
  const archived = Object.values(campaign.picks).filter(
    pick => pick.status === 'ended' && !pick.closed && isArchivedStop(campaign),
  )
  const open = Object.values(campaign.picks).filter(
    pick => pick.status !== 'ended' && !isPickContinued(campaign, pick),
  )
  const archivedSteps = archived.map(pick => closePick(pick, null, ''))
  const ended = open.flatMap(pick => {
    const verdict = judgePick(world, buildMember(world, pick, incoming.reports))
    const reason = `${describeStop(campaign)} before it was measured`
    return verdict.length > 0 ? verdict : [closePick(pick, null, reason)]
  })
  return [...archivedSteps, ...ended]
}

function closeUnsettled(world: World, experiment: Experiment, incoming: IncomingReports): PlanStep[] {
  const { id, status } = experiment
  const reason = describeStop(world.campaign)
  const member = getLastMember(world, experiment, incoming)
  if (member.judgement?.is === 'final') return closeMember(world.campaign, member)
  if (member.judgement?.is === 'eligible') return closeNotSelected(member, reason)
  const end = { step: 'close', experiment: id, keep: canKeepHead(world, experiment) } as const
  // The result of its pairs so far stays valid when the campaign ends.
  const isUnproven = member.judgement?.is === 'needs-more-pairs' || member.judgement?.is === 'not-proven'
  const known = isUnproven ? member.judgement?.reason : experiment.reason
  return status === 'not-proven' || isUnproven
    ? [
        {
          ...end,
          outcome: 'inconclusive',
          reason: appendToSentence(known ?? undefined, `${reason} before it was proven`),
        },
      ]
    : [{ ...end, outcome: 'withdrawn', reason: `${reason} before it was measured` }]
}

/** While a combination is measured, uses the report that made the experiment eligible. */
function getLastMember(world: World, experiment: Experiment, incoming: IncomingReports): RoundMember {
  const member = buildMember(world, experiment, incoming.reports)
  if (member.judgement !== null || experiment.standalone === null) return member
  return buildMember(world, { ...experiment, order: experiment.standalone }, incoming.reports)
}

/** Interrupts pairs of ideas at a stop; their partial reports are kept. */
export function interruptRemaining(
  world: World,
  incoming: IncomingReports,
): { steps: PlanStep[]; actions: PlanAction[] } {
  const losses = listOpenOrders(world.campaign, incoming).flatMap(live => {
    return isCampaignOrder(world.campaign, live) ? [] : interruptRun(world, live, 'the campaign stopped')
  })
  const actions = losses.flatMap(({ draft }): PlanAction[] =>
    draft.kind === 'order-lost' ? [{ do: 'cancel', order: draft.order }] : [],
  )
  return { steps: losses, actions }
}

export function cancelRemaining(
  { campaign }: World,
  incoming: IncomingReports,
): { steps: PlanStep[]; actions: PlanAction[] } {
  const open = listOpenOrders(campaign, incoming)
  const campaignOrders = open.filter(live => isCampaignOrder(campaign, live))
  return {
    steps: campaignOrders.map(({ order: { id } }) => {
      const reason = 'the campaign stopped'
      return { step: 'event', draft: { kind: 'order-lost', cause: id, order: id, started: false, reason } }
    }),
    actions: open.map(({ order: { id } }) => ({ do: 'cancel', order: id })),
  }
}

function isCampaignOrder(campaign: Campaign, { order }: LiveOrder): boolean {
  return order.candidates.every(({ label }) => !findSubject(campaign, label))
}

function listOpenOrders(campaign: Campaign, incoming: IncomingReports): LiveOrder[] {
  const isContinued = ({ label }: OrderCandidate) => {
    const pick = campaign.picks[label]
    return pick !== undefined && isPickContinued(campaign, pick)
  }
  return Object.values(campaign.orders).filter(
    ({ order: { id, purpose, candidates } }) =>
      !incoming.reports.has(id) &&
      !incoming.lost.has(id) &&
      (purpose !== 'progression' || isArchivedStop(campaign)) &&
      !candidates.some(isContinued),
  )
}

// Raised limits

/** True if the spec on the default branch lifts the stop: the campaign syncs before it could stop. */
export function isLimitRaised(world: World): boolean {
  const { campaign, sync } = world
  if (sync?.result !== 'clean' || !sync.spec.changed || findRefusedSyncAlert(campaign)?.tip === sync.tip)
    return false
  return isStopLifted(world, sync.spec.parsed)
}

function isStopLifted(world: World, spec: Spec): boolean {
  if (world.campaign.extra_round !== null) return false
  const now = findStopRule(world)
  return now !== null && isMovable(now.code) && findStopRule({ ...world, spec }) === null
}

/** Raising the limit on the default branch resumes the campaign without another command. */
export function planRaisedLimit(world: World): PlanStep[] {
  const { campaign } = world
  const { status, stop_code: code, default_branch } = campaign
  if (status !== 'stopped' || !isMovable(code ?? '')) return []
  if (!isLimitRaised(world)) return recordRaiseObstacle(world)
  const reason = `${toShortRef(default_branch)} has a spec whose limits no longer stop the campaign (${code})`
  return [{ step: 'event', draft: { kind: 'campaign-resumed', cause: `raised at ${campaign.seq}`, reason } }]
}

/** Records why a raised limit cannot be read, and when that obstacle is gone. */
function recordRaiseObstacle(world: World): PlanStep[] {
  const { campaign, sync } = world
  if (sync?.result === 'conflict' && sync.spec !== undefined && isStopLifted(world, sync.spec))
    return raiseAlert(world, { code: 'sync-conflict', about: sync.tip, message: describeObstacle(sync) })
  if (findRaiseObstacle(campaign) === null || (sync !== null && sync.result !== 'clean')) return []
  const message = `${toShortRef(campaign.default_branch)} can be merged in again`
  return raiseAlert(world, { code: RAISED_LIMIT_READABLE, about: world.defaultTip.commit, message })
}

// Merged campaigns

/** Archived on purpose: no campaign follows by itself. */
const ARCHIVED_CODES: ReadonlySet<string> = new Set(['fresh', 'archived'])

/** Recorded once, also if the campaign had stopped before, so that a person can still resume it. */
export function isRestartDue({ campaign, spec }: Pick<World, 'campaign' | 'spec'>): boolean {
  const { status, stop_code: code } = campaign
  if (spec.merge.on_merge !== 'restart' || status === 'none') return false
  return status !== 'stopped' || (code !== 'merged' && !ARCHIVED_CODES.has(code ?? ''))
}

/** The default branch contains the incumbent, and a change was kept. */
export function recordMergedBranch(world: World): PlanStep[] {
  const { campaign, defaultTip, merged } = world
  const cause = `${MERGED_CAUSE}${defaultTip.commit}`
  if (merged !== true || !isRestartDue(world) || Object.hasOwn(campaign.handled, cause)) return []
  const reason = `${toShortRef(campaign.default_branch)} at ${defaultTip.commit.slice(0, 10)} contains every kept change`
  return [{ step: 'event', draft: { kind: 'campaign-stopped', cause, code: 'merged', reason } }]
}

export function canRestart({ status, stop_code: code }: Campaign, { merge }: Pick<Spec, 'merge'>): boolean {
  return status === 'stopped' && code === 'merged' && merge.on_merge === 'restart'
}
