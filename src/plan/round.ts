import { areDisjoint, rankCandidates, selectRunnersUp } from '../decide/selection.ts'
import type { Campaign, Round } from '../model/campaign.ts'
import type { ExperimentId } from '../model/ids.ts'
import type { PlanStep } from './action.ts'
import { describeUnapproved } from './approvals.ts'
import { tryHoldout } from './holdout.ts'
import { buildMember, getAssessment, type RoundMember } from './judgement.ts'
import {
  buildLandingSteps,
  buildRequeueStep,
  closeExperiment,
  closeMember,
  closeNotSelected,
  formatNotTakenReason,
} from './landing.ts'
import type { OrderRequest } from './orders.ts'
import { explainUnisolated } from './permissions.ts'
import type { IncomingReports } from './reports.ts'
import type { World } from './world.ts'

/** What a round's members need next: verdicts now, orders by the order plan, or nothing. */
export interface RoundPlan {
  steps: PlanStep[]
  /** Members that need an order in this round, and whether the last one failed through nobody's fault. */
  again: { id: ExperimentId; after: 'nothing' | 'failure' | 'pairs' }[]
  /** The runner-up to be measured on top of the new incumbent. */
  combine: ExperimentId | null
  /** What would land, to be tried on the holdout first. */
  holdout: OrderRequest[]
}

const NO_ROUND_PLAN: RoundPlan = { steps: [], again: [], combine: null, holdout: [] }

export function settleRound(world: World, found: IncomingReports): RoundPlan {
  const { round } = world.campaign
  if (!round?.open) return NO_ROUND_PLAN
  const members = listMembers(world, round, found)
  const lapsed = members
    .filter(member => findNeededOrder(member).length > 0)
    .flatMap(one => closeLapsedMember(world, one))
  if (lapsed.length > 0) return { ...NO_ROUND_PLAN, steps: lapsed }
  const again = members.flatMap(findNeededOrder)
  const steps = members.flatMap(member => closeMember(world.campaign, member))
  const eligible = members.filter(member => member.judgement?.is === 'eligible')
  const barred = eligible.flatMap(member => closeBarredMember(world, member))
  const settled = eligible.filter(member => closeBarredMember(world, member).length === 0)
  if (members.some(isUndecided) || members.some(hasLostDeterminism)) return { ...NO_ROUND_PLAN, steps, again }
  const next = settleNextMember({ world, found, round }, settled, { steps, again })
  return { ...next, steps: [...barred, ...next.steps] }
}

function settleNextMember(
  scene: RoundContext,
  settled: RoundMember[],
  { steps, again }: Pick<RoundPlan, 'steps' | 'again'>,
): RoundPlan {
  if (scene.round.winner !== null) return settleCombination(scene, settled, steps)
  const { steps: landing, holdout } = settleWinner(scene, settled)
  return { ...NO_ROUND_PLAN, steps: [...steps, ...landing], again, holdout }
}

/** What its round made of its packages, or an amendment of their approval, is looked at before it lands; and as whom it ran. */
function closeBarredMember(world: World, member: RoundMember): PlanStep[] {
  const { experiment } = member
  const packages = describeUnapproved(world, experiment, world.candidates.get(experiment.id))
  const why =
    packages === null ? explainUnisolated(world, member) : `it adds ${packages}, which no person approved`
  return why === null ? [] : closeNotSelected(member, why)
}

/** An amendment took the approval back: nothing more of it runs, whatever its round still wanted to know. */
function closeLapsedMember(world: World, { experiment }: RoundMember): PlanStep[] {
  const packages = describeUnapproved(world, experiment, world.candidates.get(experiment.id))
  if (packages === null) return []
  const reason = `it adds ${packages}, which is approved no more`
  return [{ step: 'close', experiment: experiment.id, outcome: 'withdrawn', reason, keep: true }]
}

interface RoundContext {
  world: World
  found: IncomingReports
  round: Round
}

function listMembers(world: World, round: Round, found: IncomingReports): RoundMember[] {
  return round.members.flatMap(id => {
    const experiment = world.campaign.experiments[id]
    if (!experiment || !isActiveMember(experiment)) return []
    return [buildMember(world, experiment, found.reports)]
  })
}

function isActiveMember({ status }: RoundMember['experiment']): boolean {
  return status !== 'ended' && status !== 'parked' && status !== 'landing'
}

function findNeededOrder({ experiment: { id, status }, judgement }: RoundMember): RoundPlan['again'] {
  if (judgement === null) return status === 'queued' ? [{ id, after: 'nothing' }] : []
  if (judgement.is === 'again') return [{ id, after: 'failure' }]
  return judgement.is === 'more' ? [{ id, after: 'pairs' }] : []
}

/** Nothing of a round lands before all of it is decided: a new incumbent would void the pairs of the rest. */
function isUndecided({ judgement }: RoundMember): boolean {
  return judgement === null || judgement.is === 'again' || judgement.is === 'more'
}

/** What was measured beside it rests on the same belief: it is queued again, not merged. */
function hasLostDeterminism({ judgement }: RoundMember): boolean {
  return judgement?.is === 'final' && judgement.assessment.determinism_lost
}

/** The best lands; if it does not hold on the holdout, the next one is tried at the next look. */
function settleWinner(
  { world, found, round }: RoundContext,
  eligible: RoundMember[],
): Pick<RoundPlan, 'steps' | 'holdout'> {
  const [winner, ...others] = rankMembers(world, eligible)
  if (!winner) return { steps: [closeRound(round, null)], holdout: [] }
  const trial = tryHoldout(world, found, winner)
  switch (trial.is) {
    case 'passed':
      return { steps: buildWinnerSteps(world, round, winner, others), holdout: [] }
    case 'ended':
      return { steps: trial.steps, holdout: [] }
    case 'waiting':
      return { steps: trial.steps, holdout: trial.requests }
    default:
      return trial satisfies never
  }
}

/** Those that touch the files of a better one are answered at once; what only has no place in the batch is carried. */
function buildWinnerSteps(
  world: World,
  round: Round,
  winner: RoundMember,
  others: RoundMember[],
): PlanStep[] {
  const changed = collectChangedPaths(world)
  const { id } = winner.experiment
  const ranked = others.map(member => member.experiment.id)
  const most = world.spec.max_runner_up_merges_per_batch
  const runners = new Set(selectRunnersUp(ranked, id, changed, most))
  const free = new Set(selectRunnersUp(ranked, id, changed, Infinity))
  const left = others.filter(member => !runners.has(member.experiment.id))
  const steps = left.flatMap(member => {
    if (free.has(member.experiment.id)) return [carryMember(member, `${id} was better`)]
    return closeNotSelected(member, describeBetter(member, ranked, id, changed))
  })
  steps.push(...buildLandingSteps(world, winner, getLandingOutcome(winner)))
  if (runners.size === 0) steps.push(closeRound(round, id, steps))
  return steps
}

function getLandingOutcome({ experiment: { purpose } }: RoundMember): 'kept' | 'revert_landed' {
  return purpose === 'revert' ? 'revert_landed' : 'kept'
}

/** Names the first better one whose files it touches; the winner where its own files are not known. */
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

const NEXT_ROUND_TEXT = 'The next round measures it on top of what was kept'

/** A proven gain that this batch has no place for: the next round measures it on the new incumbent. */
function carryMember(member: RoundMember, why: string): PlanStep {
  const measured = getAssessment(member)?.reason
  return buildRequeueStep(member, 'carried', formatNotTakenReason(`${why}. ${NEXT_ROUND_TEXT}`, measured))
}

export function rankMembers(world: Pick<World, 'candidates'>, eligible: RoundMember[]): RoundMember[] {
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

function collectChangedPaths(world: World): Map<ExperimentId, string[]> {
  const paths = new Map<ExperimentId, string[]>()
  for (const [id, facts] of world.candidates) {
    if (facts.merged === 'clean')
      paths.set(
        id,
        facts.changes.map(change => change.path),
      )
  }
  return paths
}

function settleCombination(scene: RoundContext, eligible: RoundMember[], steps: PlanStep[]): RoundPlan {
  const { world, round } = scene
  const combined = eligible.find(member => member.measured?.order.purpose === 'combination')
  if (combined) {
    const plan = settleCombined(scene, combined, eligible.length === 1)
    return { ...plan, steps: [...steps, ...plan.steps] }
  }
  const failed = round.combination_failed || steps.length > 0
  const [next] = rankMembers(world, eligible)
  if (!failed && next) return startCombination(world, round, next, eligible, steps)
  const rest = eligible.map(member =>
    carryMember(member, `a runner-up before it did not hold on top of ${round.winner}`),
  )
  return { ...NO_ROUND_PLAN, steps: [...steps, ...rest, closeRound(round, round.winner, rest)] }
}

function settleCombined(
  { world, found, round }: RoundContext,
  combined: RoundMember,
  last: boolean,
): RoundPlan {
  const trial = tryHoldout(world, found, combined)
  if (trial.is === 'waiting') return { ...NO_ROUND_PLAN, steps: trial.steps, holdout: trial.requests }
  if (trial.is === 'ended') return { ...NO_ROUND_PLAN, steps: trial.steps }
  const landed = buildLandingSteps(world, combined, 'runner_up_kept')
  if (last) landed.push(closeRound(round, round.winner))
  return { ...NO_ROUND_PLAN, steps: landed }
}

function startCombination(
  world: World,
  round: Round,
  next: RoundMember,
  eligible: RoundMember[],
  steps: PlanStep[],
): RoundPlan {
  const { experiment } = next
  const facts = world.candidates.get(experiment.id)
  if (facts?.merged !== 'conflict') return { ...NO_ROUND_PLAN, steps, combine: experiment.id }
  const reason = `promising alone, does not merge with ${round.winner}: ${facts.paths.slice(0, 3).join(', ')}`
  const dropped = closeExperiment({
    experiment,
    order: next.measured?.order.id ?? null,
    outcome: 'runner_up_dropped',
    assessment: getAssessment(next),
    reason,
    cause: next.cause,
  })
  const rest = eligible.filter(member => member !== next)
  const carried = rest.map(member =>
    carryMember(member, `${experiment.id} before it did not merge with ${round.winner}`),
  )
  return {
    ...NO_ROUND_PLAN,
    steps: [...steps, ...dropped, ...carried, closeRound(round, round.winner, carried)],
  }
}

/** What is queued again has left the round, whether the same transaction says so or an earlier one did. */
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

export function getNextRoundNumber(campaign: Campaign): number {
  return (campaign.round?.number ?? 0) + 1
}
