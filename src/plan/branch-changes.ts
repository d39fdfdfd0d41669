import { assessCandidate } from '../decide/assess.ts'
import type { Assessment } from '../decide/assessment.ts'
import type { ForeignTip } from '../model/campaign.ts'
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
    const ownSteps =
      reason === null ? recordMovedHead(world, experiment) : [buildWithdrawal(world, experiment, reason)]
    const live = experiment.status === 'ordered' ? world.campaign.orders[experiment.order ?? ''] : undefined
    if (ownSteps.length > 0 && live !== undefined && !cancelled.has(live.order.id)) {
      cancelled.add(live.order.id)
      if (reason === null) steps.push(...interruptRun(world, live, `${experiment.id} has a new head`))
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

function buildWithdrawal(world: World, experiment: Experiment, reason: string): PlanStep {
  const keep = canKeepHead(world, experiment)
  return { step: 'close', experiment: experiment.id, outcome: 'withdrawn', reason, keep }
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

function recordMovedHead(world: World, experiment: Experiment): PlanStep[] {
  const tip = experiment.branch === null ? undefined : world.branches.get(experiment.branch)
  if (tip === undefined || tip === experiment.head) return []
  const draft = {
    kind: 'head-moved',
    cause: tip,
    experiment: experiment.id,
    from: experiment.head,
    to: tip,
  } as const
  return [{ step: 'event', draft }]
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
  const { incumbent, foreign } = world.campaign
  if (world.optimizeTip === null) return restoreBranch(world)
  if (world.optimizeTip.commit === incumbent.commit)
    return foreign ? recordVanishedTip(foreign, incumbent) : NO_FOREIGN_PLAN
  if (foreign === null || foreign.to.commit !== world.optimizeTip.commit)
    return recordForeignTip(world, world.optimizeTip)
  if (foreign.state === 'blocked')
    return { ...NO_FOREIGN_PLAN, blocked: 'the optimize branch cannot be moved back' }
  return measureForeignTip(world, incoming, foreign)
}

/** A deleted branch loses no commits: the keeper ref holds them. */
function restoreBranch(world: World): ForeignPlan {
  const { incumbent, name } = world.campaign
  const message = `optimize branch of ${name} was deleted; it is restored at ${incumbent.commit.slice(0, 10)}`
  const events = raiseAlert(world, {
    code: 'optimize-restored',
    about: `${incumbent.commit}@${world.campaign.seq}`,
    message,
  })
  const drafts = events.flatMap(step => (step.step === 'event' ? [step.draft] : []))
  return {
    steps: [{ step: 'move', from: null, to: incumbent, events: drafts }],
    requests: [],
    blocked: message,
  }
}

function recordVanishedTip(foreign: ForeignTip, incumbent: Point): ForeignPlan {
  const reason = 'the branch points to the recorded incumbent again'
  const { to } = foreign
  const draft = {
    kind: 'foreign-tip',
    cause: foreign.event,
    from: incumbent,
    to,
    state: 'moved-back',
    order: null,
    reason,
  } as const
  return { steps: [{ step: 'event', draft }], requests: [], blocked: null }
}

function recordForeignTip(world: World, to: Point): ForeignPlan {
  const { incumbent: from } = world.campaign
  const reason = `the optimize branch is at ${to.commit.slice(0, 10)}, which winnow did not put there`
  const draft = {
    kind: 'foreign-tip',
    cause: to.commit,
    from,
    to,
    state: 'found',
    order: null,
    reason,
  } as const
  const message = `${reason}: winnow merges nothing until it has measured that commit`
  return {
    steps: [
      { step: 'event', draft },
      { step: 'keep', heads: [to.commit] },
      ...raiseAlert(world, { code: 'foreign-tip', about: to.commit, message }),
    ],
    requests: [],
    blocked: reason,
  }
}

function measureForeignTip(world: World, incoming: IncomingReports, foreign: ForeignTip): ForeignPlan {
  const blocked = `the foreign tip ${foreign.to.commit.slice(0, 10)} is being measured`
  const refusal = world.foreign?.refusal
  if (refusal) return { steps: moveBranchBack(world, foreign, null, refusal.message), requests: [], blocked }
  const candidates = [{ label: 'foreign' as const, head: foreign.to.commit, tree: foreign.to.tree }]
  const order = findCampaignOrder(world, incoming, {
    purpose: 'foreign',
    base: world.campaign.incumbent,
    candidates,
  })
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
  if (assessment.retry) return planNextAttempt(world, order.attempt, assessment.reason)
  if (assessment.determinism_lost)
    return [
      recordLostDeterminism(world.campaign, {
        order: order.id,
        cause: foreign.event,
        reason: assessment.reason,
      }),
    ]
  const settle = isForeignPassing(assessment) ? adoptForeignTip : moveBranchBack
  return settle(world, foreign, order.id, assessment.reason)
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
  const { incumbent: from } = world.campaign
  const { event: cause, to } = foreign
  const adopted = { kind: 'foreign-tip', cause, from, to, state: 'adopted', order, reason } as const
  const moved = { kind: 'incumbent-moved', cause, from, to, why: 'foreign' } as const
  return [
    { step: 'event', draft: adopted },
    { step: 'event', draft: moved },
  ]
}

function moveBranchBack(
  world: World,
  foreign: ForeignTip,
  order: OrderId | null,
  reason: string,
): PlanStep[] {
  const { incumbent } = world.campaign
  const { event: cause, to } = foreign
  const draft = {
    kind: 'foreign-tip',
    cause,
    from: incumbent,
    to,
    state: 'moved-back',
    order,
    reason,
  } as const
  return [{ step: 'move', from: to, to: incumbent, events: [draft] }]
}

/** A paused or stopped campaign moves no branch, and a misplaced one must not be merged as the result. */
export function reportMisplacedBranch(world: World): { steps: PlanStep[]; waiting: PlanWaiting | null } {
  const { branchMismatch: mismatch, campaign, spec } = world
  if (mismatch === null) return { steps: [], waiting: null }
  const branch = toShortRef(buildCampaignRefs(spec.branches.prefix, campaign.name).optimize)
  const incumbent = campaign.incumbent.commit.slice(0, 10)
  const back = `winnow recover --campaign ${campaign.name} moves it back to the recorded incumbent ${incumbent}`
  const waitForPerson = (what: string): PlanWaiting => ({ for: 'person', what, astray: true })
  switch (mismatch.is) {
    case 'gone':
      return { steps: [], waiting: waitForPerson(`${branch} was deleted and is not merged: ${back}`) }
    case 'rewound':
      return {
        steps: [],
        waiting: waitForPerson(
          `${branch} was moved back to ${mismatch.tip.commit.slice(0, 10)} and lacks kept changes: ${back}`,
        ),
      }
    case 'foreign':
      return {
        steps:
          campaign.foreign?.to.commit === mismatch.tip.commit
            ? []
            : recordForeignTip(world, mismatch.tip).steps,
        waiting: waitForPerson(
          `${branch} is at ${mismatch.tip.commit.slice(0, 10)}, which winnow did not put there and has not measured: winnow resume measures it against the recorded incumbent ${incumbent}`,
        ),
      }
    default:
      return mismatch satisfies never
  }
}
