import { areDisjoint, rankCandidates, selectRunnersUp } from '../decide/selection.ts'
import type { Campaign, Round } from '../model/campaign.ts'
import type { ExperimentId } from '../model/ids.ts'
import type { PlanStep } from './action.ts'
import { explainUnapproved } from './approvals.ts'
import { holdMember } from './holds.ts'
import { tryHoldout } from './holdout.ts'
import { buildMember, getAssessment, type RoundMember } from './judgement.ts'
import {
  buildLandingSteps,
  buildRequeueStep,
  buildWithdrawStep,
  closeExperiment,
  closeMember,
  closeNotSelected,
  explainLapsedApproval,
  formatNotTakenReason,
} from './landing.ts'
import type { OrderRequest } from './orders.ts'
import { explainUnisolated } from './permissions.ts'
import { isProbePending } from './probes.ts'
import type { IncomingReports } from './reports.ts'
import type { World } from './world.ts'

export interface RoundPlan {
  steps: PlanStep[]
  /**
   * Members that need an order in this round. `failure`: the last one failed without a verdict. `disturbance`: files
   * changed during the last one.
   */
  needsOrder: { id: ExperimentId; after: 'nothing' | 'failure' | 'disturbance' | 'pairs' }[]
  combine: ExperimentId | null
  holdout: OrderRequest[]
}

const NO_ROUND_PLAN: RoundPlan = { steps: [], needsOrder: [], combine: null, holdout: [] }

interface RoundContext {
  world: World
  incoming: IncomingReports
  round: Round
}

export function settleRound(world: World, incoming: IncomingReports): RoundPlan {
  const { round } = world.campaign
  if (!round?.open) return NO_ROUND_PLAN
  const members = listMembers(world, round, incoming)
  const lapsed = members
    .filter(member => findNeededOrder(member).length > 0)
    .flatMap(one => closeLapsedMember(world, one))
  if (lapsed.length > 0) return { ...NO_ROUND_PLAN, steps: lapsed }
  const needsOrder = members.flatMap(findNeededOrder)
  const steps = members.flatMap(member => closeMember(world.campaign, member))
  const eligible = members.filter(member => member.judgement?.is === 'eligible')
  const barred = eligible.flatMap(member => closeBarredMember(world, member))
  const settled = eligible.filter(member => closeBarredMember(world, member).length === 0)
  if (members.some(isUndecided) || members.some(hasLostDeterminism))
    return { ...NO_ROUND_PLAN, steps, needsOrder }
  if (settled.some(member => isAwaitingProbes(world, member))) return { ...NO_ROUND_PLAN, steps, needsOrder }
  const held = settled.flatMap(member => holdMember(world, member))
  if (held.length > 0) return { ...NO_ROUND_PLAN, steps: [...steps, ...held] }
  const context = { world, incoming, round }
  const next =
    round.winner === null
      ? settleWinner(context, settled)
      : settleCombination(context, settled, steps.length > 0)
  return { ...next, needsOrder, steps: [...barred, ...steps, ...next.steps] }
}

function listMembers(world: World, round: Round, incoming: IncomingReports): RoundMember[] {
  return round.members.flatMap(id => {
    const experiment = world.campaign.experiments[id]
    if (!experiment || DECIDED_STATUSES.has(experiment.status)) return []
    return [buildMember(world, experiment, incoming.reports)]
  })
}

const DECIDED_STATUSES: ReadonlySet<string> = new Set(['ended', 'not-proven', 'landing'])

function findNeededOrder({ experiment: { id, status }, judgement }: RoundMember): RoundPlan['needsOrder'] {
  if (judgement === null) return status === 'queued' ? [{ id, after: 'nothing' }] : []
  if (judgement.is === 'retry') return [{ id, after: judgement.alone ? 'disturbance' : 'failure' }]
  return judgement.is === 'needs-more-pairs' ? [{ id, after: 'pairs' }] : []
}

/** An amendment withdrew the approval: no more of its code runs, even if its round needs another order. */
function closeLapsedMember(world: World, { experiment }: RoundMember): PlanStep[] {
  const obstacle = explainLapsedApproval(world, experiment)
  return obstacle === null ? [] : [buildWithdrawStep(experiment, obstacle)]
}

/** The round or an amendment may have changed approvals, and the run may have lacked isolation. */
function closeBarredMember(world: World, member: RoundMember): PlanStep[] {
  const { experiment } = member
  const facts = world.candidates.get(experiment.id)
  const why = explainUnapproved(world, experiment, facts, 'missing') ?? explainUnisolated(world, member)
  return why === null ? [] : closeNotSelected(member, why)
}

/** Nothing lands before all of a round is decided: a new incumbent would void the pairs of the rest. */
function isUndecided({ judgement }: RoundMember): boolean {
  return judgement === null || judgement.is === 'retry' || judgement.is === 'needs-more-pairs'
}

/** The harness may turn out not to use the code at all. A revert only returns to what was kept before. */
function isAwaitingProbes(world: World, { experiment }: RoundMember): boolean {
  return isProbePending(world) && experiment.purpose !== 'revert'
}

/** The other members rest on the same assumption: they are queued again, not merged. */
function hasLostDeterminism({ judgement }: RoundMember): boolean {
  return judgement?.is === 'final' && judgement.assessment.determinism_lost
}

function settleCombination(
  { world, incoming, round }: RoundContext,
  eligible: RoundMember[],
  hasClosed: boolean,
): RoundPlan {
  const combined = eligible.find(member => member.measured?.order.purpose === 'combination')
  if (combined) return settleCombined({ world, incoming, round }, combined, eligible.length === 1)
  const [next] = rankMembers(world, eligible)
  if (!round.combination_failed && !hasClosed && next) return startCombination(world, round, next, eligible)
  const others = eligible.map(member =>
    carryMember(member, `a runner-up before it did not hold on top of ${round.winner}`),
  )
  return { ...NO_ROUND_PLAN, steps: [...others, closeRound(round, round.winner, others)] }
}

function settleCombined(
  { world, incoming, round }: RoundContext,
  combined: RoundMember,
  last: boolean,
): RoundPlan {
  const trial = tryHoldout(world, incoming, combined)
  if (trial.is === 'waiting') return { ...NO_ROUND_PLAN, steps: trial.steps, holdout: trial.requests }
  if (trial.is === 'ended') return { ...NO_ROUND_PLAN, steps: trial.steps }
  const landed = buildLandingSteps(world, combined, 'runner_up_kept')
  if (last) landed.push(closeRound(round, round.winner))
  return { ...NO_ROUND_PLAN, steps: landed }
}

/** A member that is queued again has left the round, by this transaction or an earlier one. */
function closeRound(round: Round, winner: ExperimentId | null, before: readonly PlanStep[] = []): PlanStep {
  const left = before.flatMap(step =>
    step.step === 'event' && step.draft.kind === 'requeued' ? [step.draft.experiment] : [],
  )
  const draft = {
    kind: 'round-closed',
    cause: `round ${round.number}`,
    round: round.number,
    members: round.members.filter(id => !left.includes(id)),
    winner,
  } as const
  return { step: 'event', draft }
}

function startCombination(world: World, round: Round, next: RoundMember, eligible: RoundMember[]): RoundPlan {
  const { experiment } = next
  const facts = world.candidates.get(experiment.id)
  if (facts?.merged !== 'conflict') return { ...NO_ROUND_PLAN, combine: experiment.id }
  const reason = `promising alone, does not merge with ${round.winner}: ${facts.paths.slice(0, 3).join(', ')}`
  const dropped = closeExperiment({
    experiment,
    order: next.measured?.order.id ?? null,
    outcome: 'runner_up_dropped',
    assessment: getAssessment(next),
    reason,
    cause: next.cause,
  })
  const others = eligible.filter(member => member !== next)
  const requeued = others.map(member =>
    carryMember(member, `${experiment.id} before it did not merge with ${round.winner}`),
  )
  const steps = [...dropped, ...requeued, closeRound(round, round.winner, requeued)]
  return { ...NO_ROUND_PLAN, steps }
}

const NEXT_ROUND_TEXT = 'The next round measures it on top of the kept changes'

/** A proven gain beyond the batch limit: the next round measures it on the new incumbent. */
function carryMember(member: RoundMember, why: string): PlanStep {
  const measured = getAssessment(member)?.reason
  return buildRequeueStep(member, 'not-taken', formatNotTakenReason(`${why}. ${NEXT_ROUND_TEXT}`, measured))
}

/** The best member lands; if it does not hold on the holdout, the next plan tries the next one. */
function settleWinner({ world, incoming, round }: RoundContext, eligible: RoundMember[]): RoundPlan {
  const [winner, ...others] = rankMembers(world, eligible)
  if (!winner) return { ...NO_ROUND_PLAN, steps: [closeRound(round, null)] }
  const trial = tryHoldout(world, incoming, winner)
  if (trial.is === 'waiting') return { ...NO_ROUND_PLAN, steps: trial.steps, holdout: trial.requests }
  const steps = trial.is === 'passed' ? buildWinnerSteps(world, round, winner, others) : trial.steps
  return { ...NO_ROUND_PLAN, steps }
}

/** Closes members that touch the files of a better one. Carries those that only exceed the batch limit. */
function buildWinnerSteps(
  world: World,
  round: Round,
  winner: RoundMember,
  others: RoundMember[],
): PlanStep[] {
  const changed = collectChangedPaths(world)
  const { id } = winner.experiment
  const ranked = others.map(member => member.experiment.id)
  const limit = world.spec.max_runner_up_merges_per_batch
  const runners = new Set(selectRunnersUp(ranked, id, changed, limit))
  const disjoint = new Set(selectRunnersUp(ranked, id, changed, Infinity))
  const left = others.filter(member => !runners.has(member.experiment.id))
  const steps = left.flatMap(member => {
    if (disjoint.has(member.experiment.id)) return [carryMember(member, `${id} was better`)]
    return closeNotSelected(member, describeBetter(member, ranked, id, changed))
  })
  const outcome = winner.experiment.purpose === 'revert' ? 'revert_landed' : 'kept'
  steps.push(...buildLandingSteps(world, winner, outcome))
  if (runners.size === 0) steps.push(closeRound(round, id, steps))
  return steps
}

function collectChangedPaths({ candidates }: World): Map<ExperimentId, string[]> {
  const clean = [...candidates].flatMap(([id, facts]) =>
    facts.merged === 'clean' ? [[id, facts.changes.map(({ path }) => path)] as const] : [],
  )
  return new Map(clean)
}

/** Names the first better member with overlapping files; the winner if its own files are not known. */
function describeBetter(
  { experiment: { id } }: RoundMember,
  ranked: readonly ExperimentId[],
  winner: ExperimentId,
  changed: ReadonlyMap<ExperimentId, string[]>,
): string {
  const better = [winner, ...ranked.slice(0, ranked.indexOf(id))]
  const other = better.find(each => !areDisjoint(changed, each, id)) ?? winner
  const overlaps = changed.has(id) && changed.has(other) && !areDisjoint(changed, other, id)
  return `${other} was better${overlaps ? ' and changes the same files' : ''}`
}

function rankMembers(world: Pick<World, 'candidates'>, eligible: RoundMember[]): RoundMember[] {
  const byId = new Map(eligible.map(member => [member.experiment.id, member]))
  const entries = eligible.map(({ experiment, judgement }) => ({
    id: experiment.id,
    number: experiment.number,
    rankScore: judgement?.is === 'eligible' ? judgement.assessment.rank_score : 0,
    changedLines: countChangedLines(world, experiment.id),
  }))
  return rankCandidates(entries).flatMap(entry => byId.get(entry.id) ?? [])
}

function countChangedLines(world: Pick<World, 'candidates'>, id: ExperimentId): number {
  const facts = world.candidates.get(id)
  if (facts?.merged !== 'clean') return 0
  return facts.changes.reduce((sum, change) => sum + (change.added ?? 0) + (change.deleted ?? 0), 0)
}

export function getNextRoundNumber(campaign: Campaign): number {
  return (campaign.round?.number ?? 0) + 1
}
