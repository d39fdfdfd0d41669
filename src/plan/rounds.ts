import type { Touched } from '../decide/changed-lines.ts'
import { selectRound } from '../decide/select.ts'
import type { PairedRule } from '../decide/paired/rule.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { experimentsOf } from '../model/experiments.ts'
import type { ExperimentId } from '../model/ids.ts'
import type { Interruption } from '../model/interruption.ts'
import type { OrderTerms } from '../model/order.ts'
import { isJudged } from '../spec/judged.ts'
import type { Spec } from '../spec/schema.ts'
import { testsLeft } from './level.ts'
import { isMeant } from './only.ts'
import { comparing, type ComparingFacts, harmlessStop, type Request } from './orders.ts'
import { afterTerms, carriedJobs, pairedStop } from './paired-order.ts'
import { isOfSameTrees } from './resuming.ts'
import { nextRound, type RoundPlan } from './round.ts'
import { onOneMachine } from './single-machine.ts'
import type { World } from './world.ts'

/** One experiment to be measured, and what an order of it has to say. */
interface Wanted {
  experiment: Experiment
  head: string
  tree: string
  purpose: 'experiment' | 'combination'
  attempt: number
  touched: Touched
}

/** Orders for the members of the open round that need one, and for the members of the next round. */
export function memberRequests(world: World, plan: RoundPlan): Request[] {
  const round = world.campaign.round
  if (!round?.open) return []
  const again = plan.again.flatMap(({ id, after }) => {
    const purpose = round.combined.includes(id) ? 'combination' : 'experiment'
    return wantedOf(world, id, purpose, after)
  })
  const combine = plan.combine === null ? [] : wantedOf(world, plan.combine, 'combination', 'nothing')
  return [...requestsFor(world, [...again, ...combine], round.number), ...plan.holdout]
}

/** `excluded`: refused in this plan, or waiting for an approval from it on. */
export function newRound(world: World, excluded: ReadonlySet<ExperimentId>): Request[] {
  const queued = experimentsOf(world.campaign).filter(
    experiment =>
      experiment.status === 'queued' &&
      isMeant(world.only, experiment.branch) &&
      !excluded.has(experiment.id) &&
      hasTurn(world.campaign, experiment) &&
      measurable(world, experiment),
  )
  const undoing = queued.filter(experiment => experiment.purpose === 'revert').slice(0, 1)
  const chosen = undoing.length > 0 ? undoing.map(({ id }) => id) : selectRound(queued, roundSize(world.spec))
  const wanted = affordable(world, chosen).flatMap(id => wantedOf(world, id, 'experiment', 'nothing'))
  return requestsFor(world, wanted, nextRound(world.campaign))
}

/** In the one more round of what was approved late nobody else is measured. */
export function hasTurn({ encore, late }: Pick<Campaign, 'encore' | 'late'>, { id }: Experiment): boolean {
  return encore === null || late.includes(id)
}

/** Whoever has no share of the campaign's level yet needs one that is left. */
function affordable(world: World, ids: readonly ExperimentId[]): ExperimentId[] {
  const { campaign, spec } = world
  let left = comparing(world)?.by === 'pairs' ? testsLeft(campaign, spec) : Infinity
  return ids.filter(id => {
    const experiment = campaign.experiments[id]
    return experiment?.purpose === 'revert' || experiment?.share !== null || left-- > 0
  })
}

export function roundSize({ execution, parallel }: Spec): number {
  if (execution.mode === 'serial' || parallel.exclusive_resources.length > 0) return 1
  return Math.min(execution.max_concurrent, execution.max_experiments_per_tick ?? Infinity)
}

function measurable(world: World, experiment: Experiment): boolean {
  const facts = world.candidates.get(experiment.id)
  return facts?.merged === 'clean' && !facts.aheadOfSync
}

function wantedOf(
  world: World,
  id: ExperimentId,
  purpose: Wanted['purpose'],
  after: RoundPlan['again'][number]['after'],
): Wanted[] {
  const experiment = world.campaign.experiments[id]
  const facts = world.candidates.get(id)
  if (!experiment || facts?.merged !== 'clean') return []
  const attempt = after === 'pairs' ? 1 : attemptOf(world, experiment, purpose)
  const { head, tree, touched } = facts
  return [{ experiment, head, tree, purpose, attempt, touched }]
}

/** Attempts count failures that were nobody's verdict; a combination starts its own count. */
function attemptOf(world: World, experiment: Experiment, purpose: Wanted['purpose']): number {
  const last = experiment.order === null ? undefined : world.campaign.orders[experiment.order]
  if (!last) return experiment.attempts + 1
  const sameKind = (last.order.purpose === 'combination') === (purpose === 'combination')
  return sameKind ? last.order.attempt + 1 : 1
}

/** Where numbers are compared each experiment has an order of its own; pairs are measured in blocks. */
function requestsFor(world: World, wanted: readonly Wanted[], round: number): Request[] {
  const how = comparing(world)
  if (how === null) return []
  const reverts = wanted.filter(isRevert)
  const undoing = reverts.flatMap(one => {
    const stop = harmlessStop(world)
    return stop === null ? [] : [requestOf(world, [one], round, { stop })]
  })
  const ideas = wanted.filter(one => !isRevert(one))
  if (how.by === 'numbers') return [...undoing, ...ideas.map(one => requestOf(world, [one], round, how))]
  return [...undoing, ...pairedRequests(world, ideas, round)]
}

function isRevert({ experiment }: Wanted): boolean {
  return experiment.purpose === 'revert'
}

/** Its interrupted order, where that measured the very trees that are wanted now. */
function interruptionOf({ campaign }: World, { experiment, tree }: Wanted): Interruption[] {
  const { incumbent, harness } = campaign
  const again = { base: incumbent.tree, harness, label: experiment.id, tree }
  const { interruption } = experiment
  return interruption !== null && isOfSameTrees(interruption, again) ? [interruption] : []
}

function requestOf(
  world: World,
  wanted: readonly Wanted[],
  round: number,
  how: Pick<Request, 'stop' | 'carried'>,
): Request {
  const [first] = wanted
  if (first === undefined) throw new TypeError('an order measures at least one experiment')
  return {
    purpose: isRevert(first) ? 'revert' : first.purpose,
    round,
    attempt: first.attempt,
    cause: first.experiment.opened,
    interrupted: wanted.flatMap(one => interruptionOf(world, one)),
    candidates: wanted.map(({ experiment: { id }, head, tree }) => ({ label: id, head, tree })),
    ...how,
  }
}

const BLOCK = 4

/**
 * Candidates that share a base in one job: of one purpose and one attempt, and of the same trust, since they
 * lie on one machine together. Code of an outsider lies beside nobody else's.
 */
function blocksOf(world: World, wanted: readonly Wanted[], size: number): Wanted[][] {
  const groups = new Map<string, Wanted[]>()
  for (const one of wanted) {
    const { purpose, attempt, experiment } = one
    // Those that were interrupted together go on together, with the coins they have.
    const lost = interruptionOf(world, one)[0]?.order ?? 'new'
    const outsiders = experiment.stranger === null ? '' : experiment.id
    const key = [purpose, attempt, experiment.source.use === 'external', outsiders, lost].join(' ')
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return [...groups.values()].flatMap(group =>
    Array.from({ length: Math.ceil(group.length / size) }, (_, at) =>
      group.slice(at * size, (at + 1) * size),
    ),
  )
}

function pairedRequests(world: World, ideas: readonly Wanted[], round: number): Request[] {
  let { campaign } = world
  // Items are matched between two sides: another candidate's would leave fewer to compare.
  return blocksOf(world, ideas, isJudged(world.spec) ? 1 : BLOCK).map(block => {
    const { stop, carried } = pairedBy({ ...world, campaign }, block)
    campaign = afterTerms(campaign, stop.terms)
    return requestOf(world, block, round, { stop, carried })
  })
}

function pairedBy(
  world: World,
  block: readonly Wanted[],
): { stop: PairedRule; carried: OrderTerms['carried'] } {
  const { campaign, spec } = world
  const carried: OrderTerms['carried'] = {}
  for (const { experiment, tree } of block) carried[experiment.id] = carriedJobs(campaign, experiment, tree)
  const members = block.map(({ experiment: { id }, ...about }) => ({ id, ...about }))
  const singleMachine = onOneMachine(world)
  return { stop: pairedStop({ campaign, spec, singleMachine }, members), carried }
}

/** Nothing new can be shown to be anything: the campaign's level is given out, and whoever has a share is through. */
export function measuresNoMore(world: ComparingFacts): boolean {
  const { campaign, spec } = world
  if (comparing(world)?.by !== 'pairs' || testsLeft(campaign, spec) > 0) return false
  return !experimentsOf(campaign).some(({ status, share }) => status === 'queued' && share !== null)
}
