import { assessCandidate } from '../decide/assess.ts'
import type { Assessment } from '../decide/assessment.ts'
import type { ForeignTip } from '../model/campaign.ts'
import type { EventDraft } from '../model/event.ts'
import { type Experiment, listExperiments } from '../model/experiment.ts'
import { buildCampaignRefs, type OrderId, type Point, toShortRef } from '../model/ids.ts'
import type { OrderCandidate } from '../model/order.ts'
import { pauseCampaignOnce, type PlanAction, type PlanStep, type PlanWaiting, raiseAlert } from './action.ts'
import { recordLostDeterminism } from './landing.ts'
import {
  type AnsweredOrder,
  appendPostponement,
  buildNoHarmRule,
  findCampaignOrder,
  type OrderRequest,
  planNextAttempt,
  type UnansweredOrder,
} from './orders.ts'
import { type IncomingReports, interruptRun } from './reports.ts'
import { createPullFinder, type PullFacts, type World } from './world.ts'

// Branches of experiments

export function detectBranchChanges(world: World): { steps: PlanStep[]; actions: PlanAction[] } {
  const steps: PlanStep[] = []
  const actions: PlanAction[] = []
  const cancelled = new Set<OrderId>()
  const findPull = createPullFinder(world)
  for (const experiment of listExperiments(world.campaign)) {
    if (experiment.status === 'ended') continue
    const reason = explainWithdrawal(world, experiment, findPull(experiment))
    const { id } = experiment
    const keep = canKeepHead(world, experiment)
    const ownSteps: PlanStep[] =
      reason === null
        ? recordMovedHead(world, experiment)
        : [{ step: 'close', experiment: id, outcome: 'withdrawn', reason, keep }]
    const live = experiment.status === 'ordered' ? world.campaign.orders[experiment.order ?? ''] : undefined
    if (ownSteps.length > 0 && live !== undefined && !cancelled.has(live.order.id)) {
      cancelled.add(live.order.id)
      if (reason === null) steps.push(...interruptRun(world, live, `${id} has a new head`))
      actions.push({ do: 'cancel', order: live.order.id })
    }
    steps.push(...ownSteps)
  }
  return { steps, actions }
}

/** Invariant 8 within the limits: only heads that were measured, or that pass scope and limits, are kept. */
export function canKeepHead(world: World, experiment: Experiment): boolean {
  const facts = world.candidates.get(experiment.id)
  return experiment.measured_tree !== null || (facts?.merged === 'clean' && facts.refusal === null)
}

function explainWithdrawal(world: World, experiment: Experiment, pull: PullFacts | undefined): string | null {
  const request = world.campaign.steered.find(
    ({ action, experiment: id }) => action === 'withdraw' && id === experiment.id,
  )
  if (request) return request.reason
  if (pull?.state === 'closed') return `its pull request #${pull.number} was closed`
  if (pull && isForOtherBranch(world, pull))
    return `its pull request #${pull.number} was retargeted to ${pull.base}`
  // GitHub deletes the branch with the merge, and the optimize branch may show that merge later.
  if (experiment.status === 'landing' && pull?.state === 'merged') return null
  if (experiment.branch !== null && isBranchGone(world, experiment.branch, pull))
    return `its branch ${experiment.branch} was deleted`
  return null
}

/** Branches outside the campaign's prefix were never visible without a pull request. */
function isBranchGone(
  { branches, spec, campaign }: World,
  branch: string,
  pull: PullFacts | undefined,
): boolean {
  if (branches.has(branch)) return false
  const { experiments } = buildCampaignRefs(spec.branches.prefix, campaign.name)
  return pull !== undefined || branch.startsWith(toShortRef(experiments))
}

export function isForOtherBranch(
  { spec, campaign }: Pick<World, 'spec' | 'campaign'>,
  { base }: PullFacts,
): boolean {
  return base !== toShortRef(buildCampaignRefs(spec.branches.prefix, campaign.name).optimize)
}

function recordMovedHead(
  { branches }: World,
  { id: experiment, branch, head: from }: Experiment,
): PlanStep[] {
  const to = branch === null ? undefined : branches.get(branch)
  if (to === undefined || to === from) return []
  return [{ step: 'event', draft: { kind: 'head-moved', cause: to, experiment, from, to } }]
}

// Foreign commits on the optimize branch

/** Nothing merges before a commit of another author was measured, and adopted or moved back. */
interface ForeignPlan {
  steps: PlanStep[]
  requests: OrderRequest[]
  blocked: string | null
}

const NO_FOREIGN_PLAN: ForeignPlan = { steps: [], requests: [], blocked: null }

export function planForeignTip(world: World, incoming: IncomingReports): ForeignPlan {
  const { campaign, optimizeTip: tip } = world
  const { incumbent, foreign } = campaign
  if (tip === null) return restoreBranch(world)
  if (tip.commit === incumbent.commit) {
    if (foreign === null) return NO_FOREIGN_PLAN
    const reason = 'the branch points to the recorded incumbent again'
    const draft = buildForeignDraft(world, foreign, { state: 'moved-back', order: null, reason })
    return { ...NO_FOREIGN_PLAN, steps: [{ step: 'event', draft }] }
  }
  if (foreign?.to.commit !== tip.commit) return recordForeignTip(world, tip)
  if (foreign.state === 'blocked')
    return { ...NO_FOREIGN_PLAN, blocked: 'the optimize branch cannot be moved back' }
  return measureForeignTip(world, incoming, foreign)
}

type ForeignDraft = EventDraft<'foreign-tip'>

function buildForeignDraft(
  { campaign: { incumbent: from } }: World,
  { event: cause, to }: Pick<ForeignTip, 'event' | 'to'>,
  about: Pick<ForeignDraft, 'state' | 'order' | 'reason'>,
): ForeignDraft {
  return { kind: 'foreign-tip', cause, from, to, ...about }
}

/** A deleted branch loses no commits: the closed branch holds them. */
function restoreBranch(world: World): ForeignPlan {
  const { incumbent: to, name, seq } = world.campaign
  const message = `optimize branch of ${name} was deleted; it is restored at ${to.commit.slice(0, 10)}`
  const alerts = raiseAlert(world, { code: 'optimize-restored', about: `${to.commit}@${seq}`, message })
  const events = alerts.flatMap(step => (step.step === 'event' ? [step.draft] : []))
  return { steps: [{ step: 'move', from: null, to, events }], requests: [], blocked: message }
}

function recordForeignTip(world: World, to: Point): ForeignPlan {
  const reason = `the optimize branch is at ${to.commit.slice(0, 10)}, which winnow did not put there`
  const message = `${reason}: winnow merges nothing until it has measured that commit`
  const found = { state: 'found', order: null, reason } as const
  const steps: PlanStep[] = [
    { step: 'event', draft: buildForeignDraft(world, { event: to.commit, to }, found) },
    { step: 'keep', heads: [to.commit] },
    ...raiseAlert(world, { code: 'foreign-tip', about: to.commit, message }),
  ]
  return { steps, requests: [], blocked: reason }
}

function measureForeignTip(world: World, incoming: IncomingReports, foreign: ForeignTip): ForeignPlan {
  const blocked = `the foreign tip ${foreign.to.commit.slice(0, 10)} is being measured`
  const refusal = world.foreign?.refusal
  if (refusal) return { steps: moveBranchBack(world, foreign, null, refusal.message), requests: [], blocked }
  const candidates = [{ label: 'foreign' as const, head: foreign.to.commit, tree: foreign.to.tree }]
  const { incumbent: base } = world.campaign
  const order = findCampaignOrder(world, incoming, { purpose: 'foreign', base, candidates })
  const next = order.is === 'answered' ? judgeForeignTip(world, foreign, order) : order
  if (Array.isArray(next)) return { steps: next, requests: [], blocked }
  if (next.is === 'under way') return { steps: [], requests: [], blocked: appendPostponement(blocked, next) }
  if (next.is === 'wanted')
    return { steps: [], requests: requestForeignOrder(world, foreign, candidates, next), blocked }
  const reason = `the foreign tip ${foreign.to.commit.slice(0, 10)} cannot be measured: ${next.reason}`
  return { steps: pauseCampaignOnce(world, reason), requests: [], blocked: reason }
}

/** A failure of the base or the runner is no verdict on the foreign commits: they are measured again. */
function judgeForeignTip(
  world: World,
  foreign: ForeignTip,
  { order, report }: AnsweredOrder,
): PlanStep[] | UnansweredOrder {
  const baseline = order.stop.rule === 'stability' ? order.stop.baseline : null
  const assessment = assessCandidate({ spec: world.spec, order, report, label: 'foreign', baseline })
  const { retry, determinism_lost: lost, reason } = assessment
  if (retry) return planNextAttempt(world, order.attempt, reason)
  if (lost) return [recordLostDeterminism(world.campaign, { order: order.id, cause: foreign.event, reason })]
  const settle = isForeignPassing(assessment) ? adoptForeignTip : moveBranchBack
  return settle(world, foreign, order.id, reason)
}

export function isForeignPassing({ outcome, worse, violated_objectives }: Assessment): boolean {
  if (outcome === 'eligible') return true
  return (outcome === 'dropped' || outcome === 'inconclusive') && !worse && violated_objectives.length === 0
}

/** Empty until the incumbent itself is measured. */
function requestForeignOrder(
  world: World,
  foreign: ForeignTip,
  candidates: OrderCandidate[],
  { attempt, interrupted }: Pick<OrderRequest, 'attempt' | 'interrupted'>,
): OrderRequest[] {
  const stop = buildNoHarmRule(world)
  if (stop === null) return []
  const round = world.campaign.round?.number ?? 0
  return [{ purpose: 'foreign', round, attempt, interrupted, cause: foreign.event, candidates, stop }]
}

function adoptForeignTip(world: World, foreign: ForeignTip, order: OrderId, reason: string): PlanStep[] {
  const { event: cause, to } = foreign
  const { incumbent: from } = world.campaign
  return [
    { step: 'event', draft: buildForeignDraft(world, foreign, { state: 'adopted', order, reason }) },
    { step: 'event', draft: { kind: 'incumbent-moved', cause, from, to, why: 'foreign' } },
  ]
}

function moveBranchBack(
  world: World,
  foreign: ForeignTip,
  order: OrderId | null,
  reason: string,
): PlanStep[] {
  const draft = buildForeignDraft(world, foreign, { state: 'moved-back', order, reason })
  return [{ step: 'move', from: foreign.to, to: world.campaign.incumbent, events: [draft] }]
}

/** A paused or stopped campaign moves no branch, and a misplaced one must not be merged as the result. */
export function reportMisplacedBranch(world: World): { steps: PlanStep[]; waiting: PlanWaiting | null } {
  const { branchMismatch: mismatch, campaign, spec } = world
  if (mismatch === null) return { steps: [], waiting: null }
  const branch = toShortRef(buildCampaignRefs(spec.branches.prefix, campaign.name).optimize)
  const incumbent = campaign.incumbent.commit.slice(0, 10)
  const back = `winnow recover --campaign ${campaign.name} moves it back to the recorded incumbent ${incumbent}`
  const waitForPerson = (what: string): PlanWaiting => ({ for: 'person', what, astray: true })
  const tip = mismatch.is === 'gone' ? '' : mismatch.tip.commit.slice(0, 10)
  switch (mismatch.is) {
    case 'gone':
      return { steps: [], waiting: waitForPerson(`${branch} was deleted and is not merged: ${back}`) }
    case 'rewound': {
      const what = `${branch} was moved back to ${tip} and lacks kept changes: ${back}`
      return { steps: [], waiting: waitForPerson(what) }
    }
    case 'foreign': {
      const isKnown = campaign.foreign?.to.commit === mismatch.tip.commit
      const what = `${branch} is at ${tip}, which winnow did not put there and has not measured: winnow resume measures it against the recorded incumbent ${incumbent}`
      return {
        steps: isKnown ? [] : recordForeignTip(world, mismatch.tip).steps,
        waiting: waitForPerson(what),
      }
    }
    default:
      return mismatch satisfies never
  }
}
