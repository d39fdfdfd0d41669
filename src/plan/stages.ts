import { judgingStop } from '../decide/stopping.ts'
import type { Campaign } from '../model/campaign.ts'
import { withReason } from '../model/describe-status.ts'
import { experimentsOf } from '../model/experiments.ts'
import type { Action, Plan, Step, Waiting } from './action.ts'
import { askApprovals } from './approvals.ts'
import { askedHere, lostAskings } from './asked-elsewhere.ts'
import { arrivals } from './arrivals.ts'
import { answered, askFor, benchedAlerts, growsYet } from './asking.ts'
import { astrayPlan } from './astray.ts'
import { closedIdeas } from './backlog.ts'
import { approvalActions, campaignBranch, campaignPullActions, campaignPullSteps } from './campaign-pull.ts'
import { addToDraft, conclude, dispatchIdle, type Draft, request } from './draft.ts'
import { effectSteps, effectsBeside, type EffectPlan, lastEffects, progressAfterStop } from './effects.ts'
import { closesIdeas, encoreForPicks, encoreSteps } from './encore.ts'
import { foreignPlan } from './foreign.ts'
import { fruitlessAlerts } from './fruitless-runs.ts'
import { greetings } from './greetings.ts'
import { followHeads } from './heads.ts'
import { freshProposals, nothingOpened, openProposals, refuseQueued } from './intake.ts'
import { judgeElsewhere, lostJudgings, toldScores } from './judged-elsewhere.ts'
import { landedSteps, landingPlan } from './landing.ts'
import { parkInterrupted } from './lost.ts'
import { isSettled } from './only.ts'
import type { Request } from './orders.ts'
import { resumeParked } from './parked.ts'
import { pickFates } from './pick-fates.ts'
import { pickPullActions } from './pick-pulls.ts'
import { pickPlan, pickVerdicts } from './picks.ts'
import { prepare } from './preparation.ts'
import { pullActions } from './pulls.ts'
import { isLimitRaised, raisedLimitSteps } from './raised-limit.ts'
import { mergedSteps } from './restart.ts'
import { directReverts } from './revert.ts'
import { settleRound } from './round.ts'
import { memberRequests, newRound } from './rounds.ts'
import {
  cancelRemaining,
  closeRemaining,
  interruptRemaining,
  stopFor,
  type StopReason,
  stopStep,
} from './stop.ts'
import { askPermission } from './strangers.ts'
import { syncByHand, syncPlan, type SyncPlan } from './sync.ts'
import { awaitHopelessSync, awaitRefusedSync, endVanishedWaits } from './sync-awaited.ts'
import type { World } from './world.ts'

/** What a stage has to do. It ends the plan, unless it is `beside`: then the stages after it are checked as well. */
interface StageResult {
  /** Events and ref moves: one push. */
  steps?: readonly Step[]
  /** What is done on GitHub and in this process once the push was accepted. */
  actions?: readonly Action[]
  /** Orders to issue. */
  requests?: readonly Request[]
  /** Why no order can be issued: a person is waited for. */
  blocked?: string | null
  /** What the campaign waits for where this stage writes nothing. */
  waiting?: Waiting
  beside?: true
}

type Stage = (draft: Draft) => StageResult | null

/** Checked first, in every state. */
const ALWAYS: readonly Stage[] = [
  recordAnswers,
  updatePullRequests,
  recordCampaignMerge,
  recordLanding,
  recordPickFates,
]

/** Other people's changes first, then verdicts and landings, then what they make room for. */
const RUNNING: readonly Stage[] = [
  dispatchIdleOrders,
  requestScores,
  alertFruitlessRuns,
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

const PAUSED: readonly Stage[] = [holdCampaign]

const STOPPED: readonly Stage[] = [
  startExtraRound,
  resumeAfterRaisedLimit,
  recordLateBranchChanges,
  interruptMeasurements,
  closeExperiments,
  startExtraRoundForPicks,
  recordEffects,
  measureProgress,
  restStopped,
]

const STAGES: Record<Campaign['status'], readonly Stage[]> = {
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
export function plan(world: World): Plan {
  let draft: Draft = { world, found: arrivals(world), steps: [], actions: [] }
  for (const stage of STAGES[world.campaign.status]) {
    const result = stage(draft)
    if (result === null) continue
    draft = addToDraft(draft, result)
    const { requests, blocked = null, waiting, beside } = result
    if (beside) continue
    return requests ? request(draft, requests, blocked) : conclude(draft, waiting)
  }
  return conclude(draft)
}

// In every state

function recordAnswers({ world, found }: Draft): StageResult {
  const steps = [
    ...answered(world),
    ...lostAskings(world),
    ...toldScores(world),
    ...lostJudgings(world),
    ...closedIdeas(world),
    ...found.steps,
  ]
  return { steps, actions: found.actions, beside: true }
}

function updatePullRequests({ world }: Draft): StageResult {
  const actions = [
    ...pullActions(world),
    ...pickPullActions(world),
    ...campaignPullActions(world),
    ...approvalActions(world),
  ]
  return { actions, beside: true }
}

function recordCampaignMerge({ world }: Draft): StageResult | null {
  return write([...campaignPullSteps(world), ...mergedSteps(world)])
}

function recordLanding({ world }: Draft): StageResult | null {
  return write(landedSteps(world))
}

function recordPickFates({ world }: Draft): StageResult | null {
  const { steps, actions } = pickFates(world)
  return write(steps, actions)
}

function reportNoCampaign(): StageResult {
  return { waiting: { for: 'nothing', reason: 'no campaign was started' } }
}

// While the campaign runs

function dispatchIdleOrders(draft: Draft): StageResult {
  return { ...dispatchIdle(draft), beside: true }
}

function requestScores({ world }: Draft): StageResult {
  return { steps: judgeElsewhere(world), beside: true }
}

function alertFruitlessRuns({ world }: Draft): StageResult {
  return { steps: fruitlessAlerts(world), beside: true }
}

function recordBranchChanges({ world }: Draft): StageResult {
  const { steps, actions } = followHeads(world)
  return write(steps, actions) ?? { actions, beside: true }
}

function adoptManualSync({ world, found }: Draft): StageResult | null {
  const sync = syncByHand(world, found)
  return sync && continueSync(sync)
}

function handleForeignTip(draft: Draft): StageResult | null {
  const { steps, requests, blocked } = foreignPlan(draft.world, draft.found)
  if (steps.length > 0) return { steps }
  return blocked === null ? null : (prepareBase(draft) ?? { requests, blocked })
}

/** Nothing else begins meanwhile: it would be measured against what is about to be replaced. */
function finishLanding({ world }: Draft): StageResult | null {
  return landingPlan(world)
}

function failAfterRepeatedLoss({ world }: Draft): StageResult | null {
  return write(parkInterrupted(world))
}

function recordEffects({ world }: Draft): StageResult | null {
  return write(effectSteps(world))
}

function settlePicks({ world, found }: Draft): StageResult | null {
  return write(pickVerdicts(world, found))
}

function closeRound({ world, found }: Draft): StageResult | null {
  const { steps } = settleRound(world, found)
  return steps.length > 0 || found.lost.size > 0 ? { steps } : null
}

/** The one stop that interrupts a round. A budget that the default branch raises is adopted between rounds instead. */
function stopWithoutJudgeBudget({ world, found }: Draft): StageResult | null {
  const stop = judgingStop(world.spec, world.campaign.spent.usd)
  if (stop === null) return null
  if (world.campaign.round?.open || !isLimitRaised(world)) return stopCampaign(world, found, stop)
  return continueSync(syncPlan(world, found))
}

/** A run with one target ends with its verdict. The next round is left to a run of the whole campaign. */
function finishTarget({ world }: Draft): StageResult | null {
  const { only, campaign } = world
  if (only === null || !isSettled(campaign, only)) return null
  return { actions: campaignBranch(world), waiting: { for: 'ideas' } }
}

/** Experiments are compared with an incumbent that was itself measured. A broken one may be fixed on the default branch. */
function prepareBase({ world, found }: Draft): StageResult | null {
  const { steps, requests, blocked, hopeless } = prepare(world, found)
  const fix = hopeless ? syncToFixBase(world, found) : null
  if (fix !== null) return fix
  return write(steps) ?? (blocked === null ? null : { requests, blocked })
}

function syncToFixBase(world: World, found: Draft['found']): StageResult | null {
  if (world.campaign.round?.open || world.sync === null) return null
  const sync = syncPlan(world, found, { needed: true })
  if (sync.hopeless !== null) return null
  return sync.steps.length === 0 && sync.blocked === null ? null : continueSync(sync)
}

/** An order carries every pair measured so far, so new pairs are recorded before the next order is issued. */
function continueRound({ world, found }: Draft): StageResult | null {
  if (!world.campaign.round?.open) return null
  if (found.steps.length > 0) return {}
  const requests = [...memberRequests(world, settleRound(world, found)), ...pickPlan(world, found).requests]
  return { requests }
}

// Between rounds: from here on no round is open

function stopIfDue({ world, found }: Draft): StageResult | null {
  if (directReverts(world).length > 0 || isLimitRaised(world)) return null
  const stop = stopFor(world)
  return stop && stopCampaign(world, found, stop)
}

function syncDefaultBranch({ world, found }: Draft): StageResult | null {
  const { steps, requests, blocked, hopeless } = syncPlan(world, found)
  if (steps.length > 0) return { steps }
  if (hopeless === null)
    return write(endVanishedWaits(world)) ?? (blocked === null ? null : { requests, blocked })
  if (blocked === null) return null
  // A single change can still be offered on the default branch as it was last merged.
  const picks = pickPlan(world, found)
  const waits = [...awaitHopelessSync(world, hopeless), ...picks.steps]
  return write(waits) ?? { actions: greetings(world, hopeless), requests: picks.requests, blocked }
}

function revertLandings({ world }: Draft): StageResult | null {
  return write(directReverts(world))
}

/** Admits new ideas, and begins a round once no more of them are to be waited for. */
function startRound({ world, found }: Draft): StageResult {
  const { steps: refusals, refused } = refuseQueued(world)
  const approvals = askApprovals(world, experimentsOf(world.campaign), refused)
  const permissions = askPermission(world)
  const isExtra = world.campaign.encore !== null
  const opened = isExtra ? nothingOpened(world) : openProposals(world)
  const intake = [
    ...benchedAlerts(world),
    ...refusals,
    ...approvals.steps,
    ...permissions.steps,
    ...awaitRefusedSync(world),
    ...opened.steps,
  ]
  if (intake.length === 0 && !isExtra) intake.push(...resumeParked(world))
  const asked = intake.length === 0 && !isExtra ? askFor(world) : { steps: [], actions: [] }
  const isAsking = asked.steps.length + asked.actions.length > 0
  const isGrowing = !isExtra && (isAsking || growsYet(world, opened.steps))
  const excluded = new Set([...refused, ...approvals.waiting, ...permissions.waiting])
  const members = isGrowing ? [] : newRound(world, excluded)
  const effects =
    isGrowing || world.only !== null ? NO_EFFECTS : effectsBeside(world, found, members.length > 0)
  const picks = pickPlan(world, found, opened.next)
  return {
    steps: [...intake, ...asked.steps, ...effects.steps, ...picks.steps],
    actions: [...campaignBranch(world), ...asked.actions],
    requests: [...members, ...effects.requests, ...picks.requests],
  }
}

const NO_EFFECTS: Pick<EffectPlan, 'steps' | 'requests'> = { steps: [], requests: [] }

// While the campaign is paused

/** Nothing begins. Changes of branches are still recorded, unless a refused push paused the campaign. */
function holdCampaign({ world }: Draft): StageResult {
  const heads = world.campaign.status_source === 'person' ? followHeads(world) : { steps: [], actions: [] }
  return {
    steps: heads.steps,
    actions: [...cancelWaitingRuns(world), ...heads.actions, ...greetings(world)],
    waiting: describePause(world),
  }
}

/** Orders that are being measured end; those that only wait for a slot are dispatched again after the pause. */
function cancelWaitingRuns({ runs }: World): Action[] {
  const waiting = [...runs].filter(([, { state }]) => state === 'waiting')
  return waiting.map(([order]) => ({ do: 'cancel', order }))
}

function describePause(world: World): Waiting {
  const { astray, campaign } = world
  const isKnown = astray?.is === 'foreign' && campaign.foreign?.to.commit === astray.tip.commit
  const { waiting } = isKnown ? { waiting: null } : astrayPlan(world)
  const paused = `the campaign is ${withReason('paused', campaign.status_reason ?? '')}`
  if (waiting?.for !== 'person') return { for: 'person', what: paused }
  return { ...waiting, what: `${paused}. Besides, ${waiting.what}` }
}

// When the campaign stops, and after it

/** The last thing a campaign does: what is still to be reported is measured first, and nothing else begins. */
function stopCampaign(world: World, found: Draft['found'], stop: StopReason): StageResult {
  const actions = campaignBranch(world)
  const last = lastEffects(world, found, stop.code)
  if (!last.pending)
    return { steps: [...benchedAlerts(world), ...last.steps, stopStep(world, stop)], actions }
  if (found.steps.length > 0 || last.steps.length > 0) return { steps: last.steps, actions }
  return { actions, requests: last.requests }
}

/** An idea approved after the stop is measured in one more round. */
function startExtraRound({ world }: Draft): StageResult | null {
  return write(encoreSteps(world))
}

function resumeAfterRaisedLimit({ world }: Draft): StageResult | null {
  return write(raisedLimitSteps(world))
}

function recordLateBranchChanges({ world }: Draft): StageResult | null {
  if (closesIdeas(world)) return null
  const { steps, actions } = followHeads(world)
  return write(steps, actions)
}

function interruptMeasurements({ world, found }: Draft): StageResult | null {
  if (closesIdeas(world)) return null
  const { steps, actions } = interruptRemaining(world, found)
  return write(steps, actions)
}

function closeExperiments(draft: Draft): StageResult | null {
  const steps = [
    ...cancelRemaining(draft.world, draft.found).steps,
    ...closeRemaining(draft.world, draft.found),
  ]
  if (steps.length === 0) return null
  const rest = restStopped(draft)
  return { ...rest, steps: [...steps, ...(rest.steps ?? [])] }
}

function startExtraRoundForPicks({ world }: Draft): StageResult | null {
  return write(encoreForPicks(world))
}

/** Measures the total of the kept changes where it is not known yet. */
function measureProgress(draft: Draft): StageResult | null {
  const { steps, requests, pending } = progressAfterStop(draft.world, draft.found)
  if (steps.length === 0 && !pending) return null
  const idle = dispatchIdle(draft)
  const sent = { steps: [...idle.steps, ...steps], actions: idle.actions }
  return steps.length > 0 || draft.found.steps.length > 0 ? sent : { ...sent, requests }
}

/** Shows the result once more, and says what a person can still do. */
function restStopped({ world, found }: Draft): StageResult {
  const reason = world.campaign.status_reason ?? 'stopped'
  const ideas = freshProposals(world).length + world.unopened
  const astray = astrayPlan(world)
  const silence: Action[] = askedHere(world).length > 0 ? [{ do: 'stop-asking' }] : []
  const { actions } = cancelRemaining(world, found)
  return {
    steps: astray.steps,
    actions: [...silence, ...actions, ...campaignBranch(world), ...greetings(world)],
    waiting: astray.waiting ?? { for: 'nothing', reason, ...(ideas > 0 ? { ideas } : {}) },
  }
}

// What several stages do

function write(steps: readonly Step[], actions: readonly Action[] = []): StageResult | null {
  return steps.length === 0 ? null : { steps, actions }
}

function continueSync({ steps, requests, blocked }: SyncPlan): StageResult {
  return write(steps) ?? { requests, blocked }
}
