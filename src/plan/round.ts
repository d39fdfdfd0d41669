import { rank } from '../decide/rank.ts'
import { areDisjoint, runnersUp } from '../decide/select.ts'
import type { Campaign, Round } from '../model/campaign.ts'
import type { ExperimentId } from '../model/ids.ts'
import type { Step } from './action.ts'
import type { Arrivals } from './arrivals.ts'
import { holdoutTrial } from './holdout.ts'
import { unapprovedText } from './approvals.ts'
import { endSteps, finalSteps, landSteps, notSelected, notTakenReason, requeueStep } from './ending.ts'
import { assessmentOf, type Member, memberOf } from './member.ts'
import type { Request } from './orders.ts'
import { unisolatedText } from './unisolated.ts'
import type { World } from './world.ts'

/** What a round's members need next: verdicts now, orders by the order plan, or nothing. */
export interface RoundPlan {
  steps: Step[]
  /** Members that need an order in this round, and whether the last one failed through nobody's fault. */
  again: { id: ExperimentId; after: 'nothing' | 'failure' | 'pairs' }[]
  /** The runner-up to be measured on top of the new incumbent. */
  combine: ExperimentId | null
  /** What would land, to be tried on the holdout first. */
  holdout: Request[]
}

const NOTHING: RoundPlan = { steps: [], again: [], combine: null, holdout: [] }

export function settleRound(world: World, found: Arrivals): RoundPlan {
  const { round } = world.campaign
  if (!round?.open) return NOTHING
  const members = membersOf(world, round, found)
  const lapsed = members
    .filter(member => needsOrder(member).length > 0)
    .flatMap(one => lapsedSteps(world, one))
  if (lapsed.length > 0) return { ...NOTHING, steps: lapsed }
  const again = members.flatMap(needsOrder)
  const steps = members.flatMap(member => finalSteps(world.campaign, member))
  const eligible = members.filter(member => member.judgement?.is === 'eligible')
  const barred = eligible.flatMap(member => barSteps(world, member))
  const settled = eligible.filter(member => barSteps(world, member).length === 0)
  if (members.some(isUndecided) || members.some(losesDeterminism)) return { ...NOTHING, steps, again }
  const next = landNext({ world, found, round }, settled, { steps, again })
  return { ...next, steps: [...barred, ...next.steps] }
}

function landNext(
  scene: Scene,
  settled: Member[],
  { steps, again }: Pick<RoundPlan, 'steps' | 'again'>,
): RoundPlan {
  if (scene.round.winner !== null) return combination(scene, settled, steps)
  const { steps: landing, holdout } = landWinner(scene, settled)
  return { ...NOTHING, steps: [...steps, ...landing], again, holdout }
}

/** What its round made of its packages, or an amendment of their approval, is looked at before it lands; and as whom it ran. */
function barSteps(world: World, member: Member): Step[] {
  const { experiment } = member
  const packages = unapprovedText(world, experiment, world.candidates.get(experiment.id))
  const why =
    packages === null ? unisolatedText(world, member) : `it adds ${packages}, which no person approved`
  return why === null ? [] : notSelected(member, why)
}

/** An amendment took the approval back: nothing more of it runs, whatever its round still wanted to know. */
function lapsedSteps(world: World, { experiment }: Member): Step[] {
  const packages = unapprovedText(world, experiment, world.candidates.get(experiment.id))
  if (packages === null) return []
  const reason = `it adds ${packages}, which is approved no more`
  return [{ step: 'close', experiment: experiment.id, outcome: 'withdrawn', reason, keep: true }]
}

interface Scene {
  world: World
  found: Arrivals
  round: Round
}

function membersOf(world: World, round: Round, found: Arrivals): Member[] {
  return round.members.flatMap(id => {
    const experiment = world.campaign.experiments[id]
    if (!experiment || !isMember(experiment)) return []
    return [memberOf(world, experiment, found.reports)]
  })
}

function isMember({ status }: Member['experiment']): boolean {
  return status !== 'ended' && status !== 'parked' && status !== 'landing'
}

function needsOrder({ experiment: { id, status }, judgement }: Member): RoundPlan['again'] {
  if (judgement === null) return status === 'queued' ? [{ id, after: 'nothing' }] : []
  if (judgement.is === 'again') return [{ id, after: 'failure' }]
  return judgement.is === 'more' ? [{ id, after: 'pairs' }] : []
}

/** Nothing of a round lands before all of it is decided: a new incumbent would void the pairs of the rest. */
function isUndecided({ judgement }: Member): boolean {
  return judgement === null || judgement.is === 'again' || judgement.is === 'more'
}

/** What was measured beside it rests on the same belief: it is queued again, not merged. */
function losesDeterminism({ judgement }: Member): boolean {
  return judgement?.is === 'final' && judgement.assessment.determinism_lost
}

/** The best lands; if it does not hold on the holdout, the next one is tried at the next look. */
function landWinner(
  { world, found, round }: Scene,
  eligible: Member[],
): Pick<RoundPlan, 'steps' | 'holdout'> {
  const [winner, ...others] = ranking(world, eligible)
  if (!winner) return { steps: [closeRound(round, null)], holdout: [] }
  const trial = holdoutTrial(world, found, winner)
  switch (trial.is) {
    case 'passed':
      return { steps: landFirst(world, round, winner, others), holdout: [] }
    case 'ended':
      return { steps: trial.steps, holdout: [] }
    case 'waiting':
      return { steps: trial.steps, holdout: trial.requests }
    default:
      return trial satisfies never
  }
}

/** Those that touch the files of a better one are answered at once; what only has no place in the batch is carried. */
function landFirst(world: World, round: Round, winner: Member, others: Member[]): Step[] {
  const changed = changedPaths(world)
  const { id } = winner.experiment
  const ranked = others.map(member => member.experiment.id)
  const most = world.spec.max_runner_up_merges_per_batch
  const runners = new Set(runnersUp(ranked, id, changed, most))
  const free = new Set(runnersUp(ranked, id, changed, Infinity))
  const left = others.filter(member => !runners.has(member.experiment.id))
  const steps = left.flatMap(member => {
    if (free.has(member.experiment.id)) return [carry(member, `${id} was better`)]
    return notSelected(member, betterText(member, ranked, id, changed))
  })
  steps.push(...landSteps(world, winner, landedAs(winner)))
  if (runners.size === 0) steps.push(closeRound(round, id, steps))
  return steps
}

function landedAs({ experiment: { purpose } }: Member): 'kept' | 'revert_landed' {
  return purpose === 'revert' ? 'revert_landed' : 'kept'
}

/** Names the first better one whose files it touches; the winner where its own files are not known. */
function betterText(
  { experiment: { id } }: Member,
  ranked: readonly ExperimentId[],
  winner: ExperimentId,
  changed: ReadonlyMap<ExperimentId, string[]>,
): string {
  const better = [winner, ...ranked.slice(0, ranked.indexOf(id))]
  const other = better.find(each => !areDisjoint(changed, each, id)) ?? winner
  const overlaps = changed.has(id) && changed.has(other) && !areDisjoint(changed, other, id)
  return `${other} was better${overlaps ? ' and changes the same files' : ''}`
}

const NEXT_ROUND = 'The next round measures it on top of what was kept'

/** A proven gain that this batch has no place for: the next round measures it on the new incumbent. */
function carry(member: Member, why: string): Step {
  const measured = assessmentOf(member)?.reason
  return requeueStep(member, 'carried', notTakenReason(`${why}. ${NEXT_ROUND}`, measured))
}

export function ranking(world: Pick<World, 'candidates'>, eligible: Member[]): Member[] {
  const byId = new Map(eligible.map(member => [member.experiment.id, member]))
  const entries = eligible.map(({ experiment, judgement }) => ({
    id: experiment.id,
    number: experiment.number,
    rankScore: judgement?.is === 'eligible' ? judgement.assessment.rank_score : 0,
    changedLines: changedLines(world, experiment.id),
  }))
  return rank(entries).flatMap(entry => byId.get(entry.id) ?? [])
}

function changedLines(world: Pick<World, 'candidates'>, id: ExperimentId): number {
  const facts = world.candidates.get(id)
  if (facts?.merged !== 'clean') return 0
  return facts.changes.reduce((sum, change) => sum + (change.added ?? 0) + (change.deleted ?? 0), 0)
}

function changedPaths(world: World): Map<ExperimentId, string[]> {
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

function combination(scene: Scene, eligible: Member[], steps: Step[]): RoundPlan {
  const { world, round } = scene
  const combined = eligible.find(member => member.measured?.order.purpose === 'combination')
  if (combined) {
    const plan = landCombined(scene, combined, eligible.length === 1)
    return { ...plan, steps: [...steps, ...plan.steps] }
  }
  const failed = round.combination_failed || steps.length > 0
  const [next] = ranking(world, eligible)
  if (!failed && next) return startCombination(world, round, next, eligible, steps)
  const rest = eligible.map(member =>
    carry(member, `a runner-up before it did not hold on top of ${round.winner}`),
  )
  return { ...NOTHING, steps: [...steps, ...rest, closeRound(round, round.winner, rest)] }
}

function landCombined({ world, found, round }: Scene, combined: Member, last: boolean): RoundPlan {
  const trial = holdoutTrial(world, found, combined)
  if (trial.is === 'waiting') return { ...NOTHING, steps: trial.steps, holdout: trial.requests }
  if (trial.is === 'ended') return { ...NOTHING, steps: trial.steps }
  const landed = landSteps(world, combined, 'runner_up_kept')
  if (last) landed.push(closeRound(round, round.winner))
  return { ...NOTHING, steps: landed }
}

function startCombination(
  world: World,
  round: Round,
  next: Member,
  eligible: Member[],
  steps: Step[],
): RoundPlan {
  const { experiment } = next
  const facts = world.candidates.get(experiment.id)
  if (facts?.merged !== 'conflict') return { ...NOTHING, steps, combine: experiment.id }
  const reason = `promising alone, does not merge with ${round.winner}: ${facts.paths.slice(0, 3).join(', ')}`
  const dropped = endSteps({
    experiment,
    order: next.measured?.order.id ?? null,
    outcome: 'runner_up_dropped',
    assessment: assessmentOf(next),
    reason,
    cause: next.cause,
  })
  const rest = eligible.filter(member => member !== next)
  const carried = rest.map(member =>
    carry(member, `${experiment.id} before it did not merge with ${round.winner}`),
  )
  return { ...NOTHING, steps: [...steps, ...dropped, ...carried, closeRound(round, round.winner, carried)] }
}

/** What is queued again has left the round, whether the same transaction says so or an earlier one did. */
function closeRound(round: Round, winner: ExperimentId | null, before: readonly Step[] = []): Step {
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

export function nextRound(campaign: Campaign): number {
  return (campaign.round?.number ?? 0) + 1
}
