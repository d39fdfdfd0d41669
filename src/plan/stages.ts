import { findJudgingStop } from '../decide/stop-rules.ts'
import type { Campaign } from '../model/campaign.ts'
import { withReason } from '../model/describe-status.ts'
import { listExperiments } from '../model/experiment.ts'
import type { Plan, PlanAction, PlanStep, PlanWaiting } from './action.ts'
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
import { isClosingIdeas, planExtraRound, resumeNotProven, startPickRound } from './extra-round.ts'
import { listNewProposals, openExperiments, openNothing, refuseQueued } from './intake.ts'
import { closeLostJudgings, recordScores, requestJudgingJob } from './judging.ts'
import { parkRepeatedlyLost, planDirectReverts, planLanding, recordLandedMerge } from './landing.ts'
import type { OrderRequest } from './orders.ts'
import { requestPermission } from './permissions.ts'
import { judgePicks, planPickFates, planPicks } from './picks.ts'
import { planBase } from './preparation.ts'
import {
  buildAnswerSteps,
  buildRunAlerts,
  closeLostRequests,
  isRoundGrowing,
  listLocalRequests,
  reportDisabledProposers,
  requestProposals,
} from './proposals.ts'
import {
  advanceCampaignBranch,
  announceApprovals,
  commentPausedPulls,
  recordCampaignPullEnd,
  updateCampaignPull,
  updatePickPulls,
  updatePulls,
} from './pulls.ts'
import { readReports } from './reports.ts'
import { requestMemberOrders, requestNewRound } from './round-orders.ts'
import { settleRound } from './round.ts'
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

/** What a stage has to do. It ends the plan, unless it is `beside`: then the stages after it are checked as well. */
interface StageResult {
  /** Events and ref moves: one push. */
  steps?: readonly PlanStep[]
  /** What is done on GitHub and in this process once the push was accepted. */
  actions?: readonly PlanAction[]
  /** Orders to issue. */
  requests?: readonly OrderRequest[]
  /** Why no order can be issued: a person is waited for. */
  blocked?: string | null
  /** What the campaign waits for where this stage writes nothing. */
  waiting?: PlanWaiting
  beside?: true
}

type PlanStage = (draft: PlanDraft) => StageResult | null

/** Checked first, in every state. */
const ALWAYS: readonly PlanStage[] = [
  recordAnswers,
  updatePullRequests,
  recordCampaignMerge,
  recordLanding,
  recordPickFates,
]

/** Other people's changes first, then verdicts and landings, then what they make room for. */
const RUNNING: readonly PlanStage[] = [
  dispatchIdleOrders,
  requestScores,
  reportFruitlessRuns,
  recordBranchChanges,
  adoptManualSync,
  handleForeignTip,
  finishLanding,
  failAfterRepeatedLoss,
  recordEffects,
  settlePicks,
  closeRound,
  stopWithoutJudgeBudget,
  finishTarget,
  prepareBase,
  continueRound,
  stopIfDue,
  syncDefaultBranch,
  revertLandings,
  startRound,
]

const PAUSED: readonly PlanStage[] = [holdCampaign]

const STOPPED: readonly PlanStage[] = [
  startExtraRound,
  resumeAfterRaisedLimit,
  recordLateBranchChanges,
  interruptMeasurements,
  closeExperiments,
  startExtraRoundForPicks,
  recordEffects,
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
 * One look at the world, one plan: at most one transaction and what may follow it. The first stage that has something to do
 * ends it. It never relies on what an earlier plan intended; whatever is left to do is found again at the next look
 * (invariant 7).
 */
export function planCampaign(world: World): Plan {
  let draft: PlanDraft = { world, found: readReports(world), steps: [], actions: [] }
  for (const stage of STAGES[world.campaign.status]) {
    const result = stage(draft)
    if (result === null) continue
    draft = addToDraft(draft, result)
    const { requests, blocked = null, waiting, beside } = result
    if (beside) continue
    return requests ? issueOrders(draft, requests, blocked) : finishPlan(draft, waiting)
  }
  return finishPlan(draft)
}

// In every state

function recordAnswers({ world, found }: PlanDraft): StageResult {
  const steps = [
    ...buildAnswerSteps(world),
    ...closeLostRequests(world),
    ...recordScores(world),
    ...closeLostJudgings(world),
    ...closeFinishedIdeas(world),
    ...found.steps,
  ]
  return { steps, actions: found.actions, beside: true }
}

function updatePullRequests({ world }: PlanDraft): StageResult {
  const actions = [
    ...updatePulls(world),
    ...updatePickPulls(world),
    ...updateCampaignPull(world),
    ...announceApprovals(world),
  ]
  return { actions, beside: true }
}

function recordCampaignMerge({ world }: PlanDraft): StageResult | null {
  return write([...recordCampaignPullEnd(world), ...recordMergedBranch(world)])
}

function recordLanding({ world }: PlanDraft): StageResult | null {
  return write(recordLandedMerge(world))
}

function recordPickFates({ world }: PlanDraft): StageResult | null {
  const { steps, actions } = planPickFates(world)
  return write(steps, actions)
}

function reportNoCampaign(): StageResult {
  return { waiting: { for: 'nothing', reason: 'no campaign was started' } }
}

// While the campaign runs

function dispatchIdleOrders(draft: PlanDraft): StageResult {
  return { ...dispatchIdle(draft), beside: true }
}

function requestScores({ world }: PlanDraft): StageResult {
  return { steps: requestJudgingJob(world), beside: true }
}

function reportFruitlessRuns({ world }: PlanDraft): StageResult {
  return { steps: buildRunAlerts(world), beside: true }
}

function recordBranchChanges({ world }: PlanDraft): StageResult {
  const { steps, actions } = detectBranchChanges(world)
  return write(steps, actions) ?? { actions, beside: true }
}

function adoptManualSync({ world, found }: PlanDraft): StageResult | null {
  const sync = planManualSync(world, found)
  return sync && continueSync(sync)
}

function handleForeignTip(draft: PlanDraft): StageResult | null {
  const { steps, requests, blocked } = planForeignTip(draft.world, draft.found)
  if (steps.length > 0) return { steps }
  return blocked === null ? null : (prepareBase(draft) ?? { requests, blocked })
}

/** Nothing else begins meanwhile: it would be measured against what is about to be replaced. */
function finishLanding({ world }: PlanDraft): StageResult | null {
  return planLanding(world)
}

function failAfterRepeatedLoss({ world }: PlanDraft): StageResult | null {
  return write(parkRepeatedlyLost(world))
}

function recordEffects({ world }: PlanDraft): StageResult | null {
  return write(reportEffects(world))
}

function settlePicks({ world, found }: PlanDraft): StageResult | null {
  return write(judgePicks(world, found))
}

function closeRound({ world, found }: PlanDraft): StageResult | null {
  const { steps } = settleRound(world, found)
  return steps.length > 0 || found.lost.size > 0 ? { steps } : null
}

/** The one stop that interrupts a round. A budget that the default branch raises is adopted between rounds instead. */
function stopWithoutJudgeBudget({ world, found }: PlanDraft): StageResult | null {
  const stop = findJudgingStop(world.spec, world.campaign.spent.usd)
  if (stop === null) return null
  if (world.campaign.round?.open || !isLimitRaised(world)) return stopCampaign(world, found, stop)
  return continueSync(planSync(world, found))
}

/** A run with one target ends with its verdict. The next round is left to a run of the whole campaign. */
function finishTarget({ world }: PlanDraft): StageResult | null {
  const { targetBranch: only, campaign } = world
  if (only === null || !isTargetSettled(campaign, only)) return null
  return { actions: advanceCampaignBranch(world), waiting: { for: 'ideas' } }
}

/** Experiments are compared with an incumbent that was itself measured. A broken one may be fixed on the default branch. */
function prepareBase({ world, found }: PlanDraft): StageResult | null {
  const { steps, requests, blocked, hopeless } = planBase(world, found)
  const fix = hopeless ? syncToFixBase(world, found) : null
  if (fix !== null) return fix
  return write(steps) ?? (blocked === null ? null : { requests, blocked })
}

function syncToFixBase(world: World, found: PlanDraft['found']): StageResult | null {
  if (world.campaign.round?.open || world.sync === null) return null
  const sync = planSync(world, found, { needed: true })
  if (sync.hopeless !== null) return null
  return sync.steps.length === 0 && sync.blocked === null ? null : continueSync(sync)
}

/** An order carries every pair measured so far, so new pairs are recorded before the next order is issued. */
function continueRound({ world, found }: PlanDraft): StageResult | null {
  if (!world.campaign.round?.open) return null
  if (found.steps.length > 0) return {}
  const requests = [
    ...requestMemberOrders(world, settleRound(world, found)),
    ...planPicks(world, found).requests,
  ]
  return { requests }
}

// Between rounds: from here on no round is open

function stopIfDue({ world, found }: PlanDraft): StageResult | null {
  if (planDirectReverts(world).length > 0 || isLimitRaised(world)) return null
  const stop = findDueStop(world)
  return stop && stopCampaign(world, found, stop)
}

function syncDefaultBranch({ world, found }: PlanDraft): StageResult | null {
  const { steps, requests, blocked, hopeless } = planSync(world, found)
  if (steps.length > 0) return { steps }
  if (hopeless === null)
    return write(endResolvedWaits(world)) ?? (blocked === null ? null : { requests, blocked })
  if (blocked === null) return null
  // A single change can still be offered on the default branch as it was last merged.
  const picks = planPicks(world, found)
  const waits = [...awaitBlockedSync(world, hopeless), ...picks.steps]
  return write(waits) ?? { actions: commentPausedPulls(world, hopeless), requests: picks.requests, blocked }
}

function revertLandings({ world }: PlanDraft): StageResult | null {
  return write(planDirectReverts(world))
}

/** Admits new ideas, and begins a round once no more of them are to be waited for. */
function startRound({ world, found }: PlanDraft): StageResult {
  const { steps: refusals, refused } = refuseQueued(world)
  const approvals = requestApprovals(world, listExperiments(world.campaign), refused)
  const permissions = requestPermission(world)
  const isExtra = world.campaign.encore !== null
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
  const asked = intake.length === 0 && !isExtra ? requestProposals(world) : { steps: [], actions: [] }
  const isAsking = asked.steps.length + asked.actions.length > 0
  const isGrowing = !isExtra && (isAsking || isRoundGrowing(world, opened.steps))
  const excluded = new Set([...refused, ...approvals.waiting, ...permissions.waiting])
  const members = isGrowing ? [] : requestNewRound(world, excluded)
  const effects =
    isGrowing || world.targetBranch !== null ? NO_EFFECTS : planEffects(world, found, members.length > 0)
  const picks = planPicks(world, found, opened.next)
  return {
    steps: [...intake, ...asked.steps, ...effects.steps, ...picks.steps],
    actions: [...advanceCampaignBranch(world), ...asked.actions],
    requests: [...members, ...effects.requests, ...picks.requests],
  }
}

const NO_EFFECTS: Pick<EffectPlan, 'steps' | 'requests'> = { steps: [], requests: [] }

// While the campaign is paused

/** Nothing begins. Changes of branches are still recorded, unless a refused push paused the campaign. */
function holdCampaign({ world }: PlanDraft): StageResult {
  const heads =
    world.campaign.status_source === 'person' ? detectBranchChanges(world) : { steps: [], actions: [] }
  return {
    steps: heads.steps,
    actions: [...cancelWaitingRuns(world), ...heads.actions, ...commentPausedPulls(world)],
    waiting: describePause(world),
  }
}

/** Orders that are being measured end; those that only wait for a slot are dispatched again after the pause. */
function cancelWaitingRuns({ runs }: World): PlanAction[] {
  const waiting = [...runs].filter(([, { state }]) => state === 'waiting')
  return waiting.map(([order]) => ({ do: 'cancel', order }))
}

function describePause(world: World): PlanWaiting {
  const { branchMismatch: astray, campaign } = world
  const isKnown = astray?.is === 'foreign' && campaign.foreign?.to.commit === astray.tip.commit
  const { waiting } = isKnown ? { waiting: null } : reportMisplacedBranch(world)
  const paused = `the campaign is ${withReason('paused', campaign.status_reason ?? '')}`
  if (waiting?.for !== 'person') return { for: 'person', what: paused }
  return { ...waiting, what: `${paused}. Besides, ${waiting.what}` }
}

// When the campaign stops, and after it

/** The last thing a campaign does: what is still to be reported is measured first, and nothing else begins. */
function stopCampaign(world: World, found: PlanDraft['found'], stop: CampaignStop): StageResult {
  const actions = advanceCampaignBranch(world)
  const last = planLastEffects(world, found, stop.code)
  if (!last.pending)
    return { steps: [...reportDisabledProposers(world), ...last.steps, buildStopStep(world, stop)], actions }
  if (found.steps.length > 0 || last.steps.length > 0) return { steps: last.steps, actions }
  return { actions, requests: last.requests }
}

/** An idea approved after the stop is measured in one more round. */
function startExtraRound({ world }: PlanDraft): StageResult | null {
  return write(planExtraRound(world))
}

function resumeAfterRaisedLimit({ world }: PlanDraft): StageResult | null {
  return write(planRaisedLimit(world))
}

function recordLateBranchChanges({ world }: PlanDraft): StageResult | null {
  if (isClosingIdeas(world)) return null
  const { steps, actions } = detectBranchChanges(world)
  return write(steps, actions)
}

function interruptMeasurements({ world, found }: PlanDraft): StageResult | null {
  if (isClosingIdeas(world)) return null
  const { steps, actions } = interruptRemaining(world, found)
  return write(steps, actions)
}

function closeExperiments(draft: PlanDraft): StageResult | null {
  const steps = [
    ...cancelRemaining(draft.world, draft.found).steps,
    ...closeRemaining(draft.world, draft.found),
  ]
  if (steps.length === 0) return null
  const rest = showStoppedResult(draft)
  return { ...rest, steps: [...steps, ...(rest.steps ?? [])] }
}

function startExtraRoundForPicks({ world }: PlanDraft): StageResult | null {
  return write(startPickRound(world))
}

/** Measures the total of the kept changes where it is not known yet. */
function measureProgress(draft: PlanDraft): StageResult | null {
  const { steps, requests, pending } = planProgressAfterStop(draft.world, draft.found)
  if (steps.length === 0 && !pending) return null
  const idle = dispatchIdle(draft)
  const sent = { steps: [...idle.steps, ...steps], actions: idle.actions }
  return steps.length > 0 || draft.found.steps.length > 0 ? sent : { ...sent, requests }
}

/** Shows the result once more, and says what a person can still do. */
function showStoppedResult({ world, found }: PlanDraft): StageResult {
  const reason = world.campaign.status_reason ?? 'stopped'
  const ideas = listNewProposals(world).length + world.unopened
  const astray = reportMisplacedBranch(world)
  const silence: PlanAction[] = listLocalRequests(world).length > 0 ? [{ do: 'stop-asking' }] : []
  const { actions } = cancelRemaining(world, found)
  return {
    steps: astray.steps,
    actions: [...silence, ...actions, ...advanceCampaignBranch(world), ...commentPausedPulls(world)],
    waiting: astray.waiting ?? { for: 'nothing', reason, ...(ideas > 0 ? { ideas } : {}) },
  }
}

// What several stages do

function write(steps: readonly PlanStep[], actions: readonly PlanAction[] = []): StageResult | null {
  return steps.length === 0 ? null : { steps, actions }
}

function continueSync({ steps, requests, blocked }: SyncPlan): StageResult {
  return write(steps) ?? { requests, blocked }
}
