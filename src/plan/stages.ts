import { findMoneyStop } from '../decide/stop-rules.ts'
import type { SyncObstacle } from '../model/event-schemas.ts'
import type { Campaign } from '../model/campaign.ts'
import { listExperiments } from '../model/experiment.ts'
import { toShortRef } from '../model/ids.ts'
import { withReason } from '../model/status.ts'
import { pauseCampaignOnce, type Plan, type PlanAction, type PlanStep, type PlanWaiting } from './action.ts'
import { requestApprovals } from './approvals.ts'
import { closeFinishedIdeas } from './backlog.ts'
import { detectBranchChanges, planForeignTip, reportMisplacedBranch } from './branch-changes.ts'
import { addToDraft, dispatchIdle, finishPlan, issueOrders, type PlanDraft } from './draft.ts'
import {
  type EffectPlan,
  planEffects,
  planLastEffects,
  planProgressAfterStop,
  reportEffects,
} from './effects.ts'
import { planEpochRollback } from './epochs.ts'
import { isClosingIdeas, planExtraRound, resumeNotProven, startPickRound } from './extra-round.ts'
import { listNewProposals, openExperiments, openNothing, refuseQueued } from './intake.ts'
import { recordScores, requestJudgingJob } from './judging.ts'
import { stopAfterRepeatedLoss, planDirectReverts, planLanding, recordLandedMerge } from './landing.ts'
import { describeForbiddenSpending, listForbiddenSpenders } from './money.ts'
import { draftOrders, type OrderRequest } from './orders.ts'
import { requestPermission } from './permissions.ts'
import { judgePicks, planPickFates, planPicks } from './picks.ts'
import { planBase } from './preparation.ts'
import { hasProbeOrder, planProbes } from './probes.ts'
import {
  buildAnswerSteps,
  buildRunAlerts,
  findMeasuringRest,
  isRoundGrowing,
  listLocalRequests,
  reportDisabledProposers,
  requestProposals,
} from './proposals.ts'
import {
  advanceCampaignBranch,
  deleteEndedBranches,
  recordCampaignPullEnd,
  reportUnreadPulls,
} from './pulls.ts'
import { type IncomingReports, readReports } from './reports.ts'
import { closeLostRequests } from './requests.ts'
import { settleRound } from './round.ts'
import { requestMemberOrders, requestNewRound } from './round-orders.ts'
import {
  buildStopStep,
  type CampaignStop,
  cancelRemaining,
  closeRemaining,
  findDueStop,
  interruptRemaining,
  isLimitRaised,
  planRaisedLimit,
  recordMergedBranch,
} from './stop.ts'
import {
  awaitBlockedSync,
  awaitRefusedSync,
  endResolvedWaits,
  planManualSync,
  planSync,
  type SyncPlan,
} from './sync.ts'
import { isTargetSettled, type World } from './world.ts'

/** A stage checks one concern. It returns null if it has nothing to do. */
type PlanStage = (draft: PlanDraft) => StageResult | null

/** The work of one stage. It ends the plan, unless `continues` lets the stages after it add to it. */
interface StageResult {
  /** Events and ref moves: winnow writes all of them in one push. */
  steps?: readonly PlanStep[]
  /** Effects on GitHub and in this process, once the remote has accepted the push. */
  actions?: readonly PlanAction[]
  /** Orders to issue: each becomes an event, and is dispatched after the push. */
  requests?: readonly OrderRequest[]
  /** Why no other order can be issued now; shown if this plan does nothing. */
  blocked?: string | null
  /** The reason to wait, if this plan does nothing. */
  waiting?: PlanWaiting
  /** Why new ideas cannot be opened now. */
  obstacle?: SyncObstacle
  continues?: true
}

/** Checked first, in every state of a campaign. */
const ALWAYS: readonly PlanStage[] = [
  recordAnswers,
  deleteBranches,
  recordCampaignMerge,
  recordIfAny(recordLandedMerge),
  recordPickFates,
]

const RUNNING: readonly PlanStage[] = [
  pauseUncappedSpending,

  // Work that was requested before
  dispatchIdleOrders,
  requestScores,
  raiseAlerts,

  // Changes that people made to branches
  recordBranchChanges,
  adoptManualSync,
  handleForeignTip,

  // Verdicts and landings
  finishLanding,
  recordIfAny(stopAfterRepeatedLoss),
  recordIfAny(reportEffects),
  recordIfAny(judgePicks),
  closeRound,

  // The two ends that do not wait for the round
  stopWithoutMoney,
  finishTarget,

  // Measurements: of the base first, then of the open round
  prepareBase,
  planHarnessProbes,
  continueRound,

  // Between rounds: `continueRound` ends the plan while a round is open
  recordIfAny(planEpochRollback),
  stopIfDue,
  syncDefaultBranch,
  recordIfAny(planDirectReverts),
  startRound,
]

const PAUSED: readonly PlanStage[] = [holdCampaign]

const STOPPED: readonly PlanStage[] = [
  // Reasons to run again
  recordIfAny(planExtraRound),
  recordIfAny(planRaisedLimit),

  // The end of what was under way
  recordLateBranchChanges,
  interruptMeasurements,
  closeExperiments,

  // Measurements after the end
  recordIfAny(startPickRound),
  recordIfAny(reportEffects),
  measureProgress,

  showStoppedResult,
]

const STAGES: Record<Campaign['status'], readonly PlanStage[]> = {
  none: [reportNoCampaign],
  running: [...ALWAYS, ...RUNNING],
  paused: [...ALWAYS, ...PAUSED],
  stopped: [...ALWAYS, ...STOPPED],
}

/**
 * Decides what winnow does next, as a pure function of one observation. Checks the stages of the campaign's
 * state from top to bottom; the first with work to do ends the plan, so a plan has at most one transaction. No
 * plan relies on an earlier one: the next observation finds the work that is left (invariant 7).
 */
export function planCampaign(world: World): Plan {
  let draft: PlanDraft = { world, incoming: readReports(world), steps: [], actions: [] }
  for (const stage of STAGES[world.campaign.status]) {
    const result = stage(draft)
    if (result === null) continue
    draft = addToDraft(draft, result)
    const { requests, blocked = null, waiting, obstacle, continues } = result
    if (continues) continue
    const plan = requests ? issueOrders(draft, requests, blocked) : finishPlan(draft, waiting)
    return obstacle === undefined ? plan : { ...plan, obstacle }
  }
  return finishPlan(draft)
}

// Stages of every state

function recordAnswers({ world, incoming }: PlanDraft): StageResult {
  const steps = [
    ...buildAnswerSteps(world),
    ...recordScores(world),
    ...closeLostRequests(world),
    ...closeFinishedIdeas(world),
    ...incoming.steps,
  ]
  return { steps, actions: incoming.actions, continues: true }
}

function deleteBranches({ world }: PlanDraft): StageResult {
  return { actions: deleteEndedBranches(world), continues: true }
}

function recordCampaignMerge({ world }: PlanDraft): StageResult | null {
  return writeIfAny([...recordCampaignPullEnd(world), ...recordMergedBranch(world)])
}

function recordPickFates({ world }: PlanDraft): StageResult | null {
  const { steps, actions } = planPickFates(world)
  return writeIfAny(steps, actions)
}

function reportNoCampaign(): StageResult {
  return { waiting: { for: 'nothing', reason: 'no campaign was started' } }
}

// Stages of a running campaign

/** A spec that the default branch has may cap it: then that is adopted first. */
function pauseUncappedSpending({ world, incoming }: PlanDraft): StageResult | null {
  const { campaign, spec, sync } = world
  const spenders = listForbiddenSpenders(campaign, spec)
  if (spenders.length === 0) return null
  const next = sync?.result === 'clean' && sync.spec.changed ? sync.spec.parsed : spec
  if (listForbiddenSpenders(campaign, next).length === 0) return continueSync(planSync(world, incoming))
  const cap = `set the cap on ${toShortRef(campaign.default_branch)} and run winnow resume`
  const reason = `${describeForbiddenSpending(spenders)}. To continue, ${cap}; or allow it: winnow resume --allow-uncapped`
  return { steps: pauseCampaignOnce(world, reason) }
}

function dispatchIdleOrders(draft: PlanDraft): StageResult {
  return { ...dispatchIdle(draft), continues: true }
}

function requestScores({ world }: PlanDraft): StageResult {
  return { steps: requestJudgingJob(world), continues: true }
}

function raiseAlerts({ world }: PlanDraft): StageResult {
  return { steps: [...buildRunAlerts(world), ...reportUnreadPulls(world)], continues: true }
}

function recordBranchChanges({ world }: PlanDraft): StageResult {
  const { steps, actions } = detectBranchChanges(world)
  return writeIfAny(steps, actions) ?? { actions, continues: true }
}

function adoptManualSync({ world, incoming }: PlanDraft): StageResult | null {
  const sync = planManualSync(world, incoming)
  return sync && continueSync(sync)
}

function handleForeignTip(draft: PlanDraft): StageResult | null {
  const { steps, requests, blocked } = planForeignTip(draft.world, draft.incoming)
  if (steps.length > 0) return { steps }
  return blocked === null ? null : (prepareBase(draft) ?? { requests, blocked })
}

/** No work begins before the landing: it would be measured against a base that is about to be replaced. */
function finishLanding({ world }: PlanDraft): StageResult | null {
  return planLanding(world)
}

function closeRound({ world, incoming }: PlanDraft): StageResult | null {
  const { steps } = settleRound(world, incoming)
  return steps.length > 0 || incoming.lost.size > 0 ? { steps } : null
}

/** The one stop that interrupts a round. Between rounds, winnow first adopts a raised budget. */
function stopWithoutMoney({ world, incoming }: PlanDraft): StageResult | null {
  const stop = findMoneyStop(world.spec, world.campaign.spent)
  if (stop === null) return null
  if (world.campaign.round?.open || !isLimitRaised(world)) return stopCampaign(world, incoming, stop)
  return continueSync(planSync(world, incoming))
}

/** A run for one target ends with that verdict; runs of the whole campaign start the next round. */
function finishTarget({ world }: PlanDraft): StageResult | null {
  const { targetBranch, campaign } = world
  if (targetBranch === null || !isTargetSettled(campaign, targetBranch)) return null
  // A run that ends would interrupt them, and so would the next one.
  if (hasProbeOrder(world)) return null
  return { actions: advanceCampaignBranch(world), waiting: { for: 'ideas' } }
}

/** Measures the incumbent before experiments are compared with it. A sync may fix a broken one. */
function prepareBase({ world, incoming }: PlanDraft): StageResult | null {
  const { steps, requests, blocked, hopeless } = planBase(world, incoming)
  const sync = hopeless ? syncToFixBase(world, incoming) : null
  if (sync !== null) return sync
  return writeIfAny(steps) ?? (blocked === null ? null : { requests, blocked })
}

/** Continues, because ideas are measured meanwhile. `settleRound` keeps them from landing until the answer. */
function planHarnessProbes({ world, incoming }: PlanDraft): StageResult | null {
  const { steps, requests, hopeless } = planProbes(world, incoming)
  const sync = hopeless ? syncToFixBase(world, incoming) : null
  if (sync !== null) return sync
  if (steps.length > 0) return { steps }
  const isStopping = !world.campaign.round?.open && findDueStop(world) !== null
  if (requests.length === 0 || isStopping || findMeasuringRest(world) !== null) return null
  return { ...draftOrders(world, requests), continues: true }
}

function syncToFixBase(world: World, incoming: IncomingReports): StageResult | null {
  if (world.campaign.round?.open || world.sync === null) return null
  const sync = planSync(world, incoming, { needed: true })
  if (sync.hopeless !== null) return null
  return sync.steps.length === 0 && sync.blocked === null ? null : continueSync(sync)
}

/** An order carries every pair measured so far, so new pairs are recorded before the next order is issued. */
function continueRound({ world, incoming }: PlanDraft): StageResult | null {
  if (!world.campaign.round?.open) return null
  if (incoming.steps.length > 0) return {}
  const requests = [
    ...requestMemberOrders(world, settleRound(world, incoming)),
    ...planPicks(world, incoming).requests,
  ]
  return { requests }
}

// Stages between rounds: no round is open here

function stopIfDue({ world, incoming }: PlanDraft): StageResult | null {
  if (planDirectReverts(world).length > 0 || isLimitRaised(world)) return null
  const stop = findDueStop(world)
  return stop && stopCampaign(world, incoming, stop)
}

function syncDefaultBranch({ world, incoming }: PlanDraft): StageResult | null {
  const { steps, requests, blocked, hopeless } = planSync(world, incoming)
  if (steps.length > 0) return { steps }
  if (hopeless === null)
    return writeIfAny(endResolvedWaits(world)) ?? (blocked === null ? null : { requests, blocked })
  if (blocked === null) return null
  // Picks can still be offered, on the default branch as it was last merged.
  const picks = planPicks(world, incoming)
  const waits = [...awaitBlockedSync(world, hopeless), ...picks.steps]
  return writeIfAny(waits) ?? { requests: picks.requests, blocked, obstacle: hopeless }
}

/** Opens and requests ideas, and starts a round once it waits for no more of them. */
function startRound({ world, incoming }: PlanDraft): StageResult {
  const { steps: refusals, refused } = refuseQueued(world)
  const approvals = requestApprovals(world, listExperiments(world.campaign), refused)
  const permissions = requestPermission(world)
  const isExtra = world.campaign.extra_round !== null
  const opened = isExtra ? openNothing(world) : openExperiments(world)
  const intake = [
    ...reportDisabledProposers(world),
    ...refusals,
    ...approvals.steps,
    ...permissions.steps,
    ...awaitRefusedSync(world),
    ...opened.steps,
  ]
  if (intake.length === 0 && !isExtra) intake.push(...resumeNotProven(world))
  const proposals = intake.length === 0 && !isExtra ? requestProposals(world) : { steps: [], actions: [] }
  const isAsking = proposals.steps.length + proposals.actions.length > 0
  const isGrowing = !isExtra && (isAsking || isRoundGrowing(world, opened.steps))
  const excluded = new Set([...refused, ...approvals.waiting, ...permissions.waiting])
  const members = isGrowing ? [] : requestNewRound(world, excluded)
  const effects =
    isGrowing || world.targetBranch !== null ? NO_EFFECTS : planEffects(world, incoming, members.length > 0)
  const picks = planPicks(world, incoming, opened.next)
  return {
    steps: [...intake, ...proposals.steps, ...effects.steps, ...picks.steps],
    actions: [...advanceCampaignBranch(world), ...proposals.actions],
    requests: [...members, ...effects.requests, ...picks.requests],
  }
}

// Stages of a paused campaign

/** Begins no work. Still records branch changes, unless a refused push paused the campaign. */
function holdCampaign({ world }: PlanDraft): StageResult {
  const changes =
    world.campaign.status_source === 'person' ? detectBranchChanges(world) : { steps: [], actions: [] }
  return {
    steps: changes.steps,
    actions: [...cancelWaitingRuns(world), ...changes.actions],
    waiting: describePause(world),
  }
}

/** Measurements go on. Runs that only wait for a slot are dispatched again after the pause. */
function cancelWaitingRuns({ runs }: World): PlanAction[] {
  const waiting = [...runs].filter(([, { state }]) => state === 'waiting')
  return waiting.map(([order]) => ({ do: 'cancel', order }))
}

function describePause(world: World): PlanWaiting {
  const { branchMismatch: mismatch, campaign } = world
  const isKnown = mismatch?.is === 'foreign' && campaign.foreign?.to.commit === mismatch.tip.commit
  const { waiting } = isKnown ? { waiting: null } : reportMisplacedBranch(world)
  const paused = `the campaign is ${withReason('paused', campaign.status_reason ?? '')}`
  if (waiting?.for !== 'person') return { for: 'person', what: paused }
  return { ...waiting, what: `${paused}. Also, ${waiting.what}` }
}

// Stages of a stopped campaign

function recordLateBranchChanges({ world }: PlanDraft): StageResult | null {
  if (isClosingIdeas(world)) return null
  const { steps, actions } = detectBranchChanges(world)
  return writeIfAny(steps, actions)
}

function interruptMeasurements({ world, incoming }: PlanDraft): StageResult | null {
  if (isClosingIdeas(world)) return null
  const { steps, actions } = interruptRemaining(world, incoming)
  return writeIfAny(steps, actions)
}

function closeExperiments(draft: PlanDraft): StageResult | null {
  const steps = [
    ...cancelRemaining(draft.world, draft.incoming).steps,
    ...closeRemaining(draft.world, draft.incoming),
  ]
  if (steps.length === 0) return null
  const result = showStoppedResult(draft)
  return { ...result, steps: [...steps, ...(result.steps ?? [])] }
}

function measureProgress(draft: PlanDraft): StageResult | null {
  const { steps, requests, pending } = planProgressAfterStop(draft.world, draft.incoming)
  if (steps.length === 0 && !pending) return null
  const idle = dispatchIdle(draft)
  const result = { steps: [...idle.steps, ...steps], actions: idle.actions }
  return steps.length > 0 || draft.incoming.steps.length > 0 ? result : { ...result, requests }
}

function showStoppedResult({ world, incoming }: PlanDraft): StageResult {
  const reason = world.campaign.status_reason ?? 'stopped'
  const ideas =
    listNewProposals(world).filter(({ source }) => source.use !== 'revert').length + world.unopened
  const mismatch = reportMisplacedBranch(world)
  const stopAsking: PlanAction[] = listLocalRequests(world).length > 0 ? [{ do: 'stop-asking' }] : []
  const { actions } = cancelRemaining(world, incoming)
  return {
    steps: mismatch.steps,
    actions: [...stopAsking, ...actions, ...advanceCampaignBranch(world)],
    waiting: mismatch.waiting ?? { for: 'nothing', reason, ...(ideas > 0 ? { ideas } : {}) },
  }
}

// Helpers of several stages

const NO_EFFECTS: Pick<EffectPlan, 'steps' | 'requests'> = { steps: [], requests: [] }

/** A stage that only records events. */
function recordIfAny(find: (world: World, incoming: IncomingReports) => readonly PlanStep[]): PlanStage {
  return ({ world, incoming }) => writeIfAny(find(world, incoming))
}

/** Ends the plan with these steps; without any, the next stage is checked. */
function writeIfAny(steps: readonly PlanStep[], actions: readonly PlanAction[] = []): StageResult | null {
  return steps.length === 0 ? null : { steps, actions }
}

function continueSync({ steps, requests, blocked }: SyncPlan): StageResult {
  return writeIfAny(steps) ?? { requests, blocked }
}

/** Measures what is still unreported, then stops the campaign. No other work begins meanwhile. */
function stopCampaign(world: World, incoming: IncomingReports, stop: CampaignStop): StageResult {
  const actions = advanceCampaignBranch(world)
  const last = planLastEffects(world, incoming, stop.code)
  if (!last.pending)
    return { steps: [...reportDisabledProposers(world), ...last.steps, buildStopStep(world, stop)], actions }
  if (incoming.steps.length > 0 || last.steps.length > 0) return { steps: last.steps, actions }
  return { actions, requests: last.requests }
}
