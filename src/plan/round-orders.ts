import { isLandedUnproven } from '../decide/epochs.ts'
import type { PairedRule } from '../decide/paired/evaluate.ts'
import { selectRound, type TouchedLines } from '../decide/selection.ts'
import type { Campaign } from '../model/campaign.ts'
import { type Experiment, listExperiments } from '../model/experiment.ts'
import type { ExperimentId } from '../model/ids.ts'
import type { OrderTerms } from '../model/order.ts'
import type { Interruption } from '../model/pairs.ts'
import type { Spec } from '../spec/schema.ts'
import { isJudgedMetric } from '../spec/spec-facts.ts'
import {
  buildNoHarmRule,
  buildUnprovenRule,
  type ComparingFacts,
  hasSameTrees,
  type OrderRequest,
  selectComparison,
} from './orders.ts'
import {
  applyTerms,
  buildPairedRule,
  countTestsLeft,
  getEarlierJobs,
  hasSingleMachine,
} from './paired-order.ts'
import { getNextRoundNumber, type RoundPlan } from './round.ts'
import { isAheadOfSync, isTarget, type World } from './world.ts'

interface WantedMember {
  experiment: Experiment
  head: string
  tree: string
  purpose: 'experiment' | 'combination'
  attempt: number
  /** In an order of its own. */
  alone: boolean
  touched: TouchedLines
}

export function requestMemberOrders(world: World, plan: RoundPlan): OrderRequest[] {
  const round = world.campaign.round
  if (!round?.open) return []
  const members = plan.needsOrder.flatMap(({ id, after }) => {
    const purpose = round.combined.includes(id) ? 'combination' : 'experiment'
    return selectWanted(world, id, purpose, after)
  })
  const combine = plan.combine === null ? [] : selectWanted(world, plan.combine, 'combination', 'nothing')
  return [...requestOrders(world, [...members, ...combine], round.number), ...plan.holdout]
}

function selectWanted(
  world: World,
  id: ExperimentId,
  purpose: WantedMember['purpose'],
  after: RoundPlan['needsOrder'][number]['after'],
): WantedMember[] {
  const experiment = world.campaign.experiments[id]
  const facts = world.candidates.get(id)
  if (!experiment || facts?.merged !== 'clean') return []
  const attempt = after === 'pairs' ? 1 : countAttempt(world, experiment, purpose)
  const { head, tree, touched } = facts
  return [{ experiment, head, tree, purpose, attempt, alone: after === 'disturbance', touched }]
}

/** Attempts count failures that were no verdict; a combination starts its own count. */
function countAttempt(world: World, experiment: Experiment, purpose: WantedMember['purpose']): number {
  const last = experiment.order === null ? undefined : world.campaign.orders[experiment.order]
  if (!last) return experiment.attempts + 1
  const sameKind = (last.order.purpose === 'combination') === (purpose === 'combination')
  return sameKind ? last.order.attempt + 1 : 1
}

/** Comparison by numbers needs one order for each experiment; pairs are measured in blocks. */
function requestOrders(world: World, wanted: readonly WantedMember[], round: number): OrderRequest[] {
  const comparison = selectComparison(world)
  if (comparison === null) return []
  const undoing: OrderRequest[] = []
  const ideas: WantedMember[] = []
  for (const member of wanted) {
    const isUnproven = isLandedUnproven(world.spec, member.experiment)
    const stop = isUnproven
      ? buildUnprovenRule(world)
      : isRevertMember(member)
        ? buildNoHarmRule(world)
        : null
    if (stop !== null) undoing.push(buildMemberRequest(world, [member], round, { stop }))
    else if (!isUnproven && !isRevertMember(member)) ideas.push(member)
  }
  if (comparison.by === 'numbers')
    return [...undoing, ...ideas.map(member => buildMemberRequest(world, [member], round, comparison))]
  return [...undoing, ...requestPairedOrders(world, ideas, round)]
}

function isRevertMember({ experiment }: WantedMember): boolean {
  return experiment.purpose === 'revert'
}

function buildMemberRequest(
  world: World,
  wanted: readonly WantedMember[],
  round: number,
  comparison: Pick<OrderRequest, 'stop' | 'earlier_jobs'>,
): OrderRequest {
  const [first] = wanted
  if (first === undefined) throw new TypeError('an order measures at least one experiment')
  return {
    purpose: isRevertMember(first) ? 'revert' : first.purpose,
    round,
    attempt: first.attempt,
    cause: first.experiment.opened,
    interrupted: wanted.flatMap(member => listInterruptions(world, member)),
    candidates: wanted.map(({ experiment: { id }, head, tree }) => ({ label: id, head, tree })),
    ...comparison,
  }
}

/** Its interrupted order, if that measured the very trees that are wanted now. */
function listInterruptions({ campaign }: World, { experiment, tree }: WantedMember): Interruption[] {
  const { incumbent, harness } = campaign
  const subject = { base: incumbent.tree, harness, label: experiment.id, tree }
  const { interruption } = experiment
  return interruption !== null && hasSameTrees(interruption, subject) ? [interruption] : []
}

const BLOCK_SIZE = 4

function requestPairedOrders(world: World, ideas: readonly WantedMember[], round: number): OrderRequest[] {
  let { campaign } = world
  // Items are matched between two sides: another candidate's would leave fewer to compare.
  return groupMembers(world, ideas, isJudgedMetric(world.spec) ? 1 : BLOCK_SIZE).map(block => {
    const { stop, earlier_jobs } = buildPairedStop({ ...world, campaign }, block)
    campaign = applyTerms(campaign, stop.terms)
    return buildMemberRequest(world, block, round, { stop, earlier_jobs })
  })
}

/**
 * Candidates of one job share a machine: code of an outsider shares it with no other candidate, and neither does a
 * candidate whose files changed while they were measured together.
 */
function groupMembers(world: World, wanted: readonly WantedMember[], size: number): WantedMember[][] {
  const groups = new Map<string, WantedMember[]>()
  for (const member of wanted) {
    const { purpose, attempt, experiment, alone } = member
    // Candidates that were interrupted together continue together, with their coins.
    const interruptedOrder = listInterruptions(world, member)[0]?.order ?? 'new'
    const separate = alone || experiment.needs_permission !== null ? experiment.id : ''
    const isExternal = experiment.source.use === 'external'
    const key = [purpose, attempt, isExternal, separate, interruptedOrder].join(' ')
    groups.set(key, [...(groups.get(key) ?? []), member])
  }
  return [...groups.values()].flatMap(group => {
    const count = Math.ceil(group.length / size)
    return Array.from({ length: count }, (_, at) => group.slice(at * size, (at + 1) * size))
  })
}

function buildPairedStop(
  world: World,
  block: readonly WantedMember[],
): { stop: PairedRule; earlier_jobs: OrderTerms['earlier_jobs'] } {
  const { campaign, spec } = world
  const earlier_jobs = Object.fromEntries(
    block.map(({ experiment, tree }) => [experiment.id, getEarlierJobs(campaign, experiment, tree)]),
  )
  const members = block.map(({ experiment: { id }, ...about }) => ({ id, ...about }))
  const singleMachine = hasSingleMachine(world)
  return { stop: buildPairedRule({ campaign, spec, singleMachine }, members), earlier_jobs }
}

/** `excluded`: refused by this plan, or waiting for an approval or a permission. */
export function requestNewRound(world: World, excluded: ReadonlySet<ExperimentId>): OrderRequest[] {
  const queued = listExperiments(world.campaign).filter(
    experiment =>
      experiment.status === 'queued' &&
      isTarget(world.targetBranch, experiment.branch) &&
      !excluded.has(experiment.id) &&
      hasTurn(world.campaign, experiment) &&
      world.candidates.get(experiment.id)?.merged === 'clean' &&
      !isAheadOfSync(world, experiment),
  )
  const undoing = queued.filter(experiment => experiment.purpose === 'revert').slice(0, 1)
  const chosen =
    undoing.length > 0 ? undoing.map(({ id }) => id) : selectRound(queued, getRoundSize(world.spec))
  const wanted = selectAffordable(world, chosen).flatMap(id =>
    selectWanted(world, id, 'experiment', 'nothing'),
  )
  return requestOrders(world, wanted, getNextRoundNumber(world.campaign))
}

/** An experiment without a share of the error budget needs one that is left. */
function selectAffordable(world: World, ids: readonly ExperimentId[]): ExperimentId[] {
  const { campaign, spec } = world
  let left = selectComparison(world)?.by === 'pairs' ? countTestsLeft(campaign, spec) : Infinity
  return ids.filter(id => {
    const experiment = campaign.experiments[id]
    return experiment?.purpose === 'revert' || experiment?.alpha_share !== null || left-- > 0
  })
}

/** An extra round measures only experiments that were approved late. */
export function hasTurn(
  { extra_round, approved_after_stop }: Pick<Campaign, 'extra_round' | 'approved_after_stop'>,
  { id }: Experiment,
): boolean {
  return extra_round === null || approved_after_stop.includes(id)
}

/** One update between two epochs, so that a regression has one cause. */
export function getRoundSize({ execution, parallel, epochs }: Spec): number {
  if (epochs !== null || execution.mode === 'serial' || parallel.exclusive_resources.length > 0) return 1
  return Math.min(execution.max_concurrent, execution.max_experiments_per_tick ?? Infinity)
}

/** No idea can be proven any more: no share is left, and no queued experiment has one. */
export function isAlphaSpent(world: ComparingFacts): boolean {
  const { campaign, spec } = world
  if (selectComparison(world)?.by !== 'pairs' || countTestsLeft(campaign, spec) > 0) return false
  return !listExperiments(campaign).some(
    ({ status, alpha_share }) => status === 'queued' && alpha_share !== null,
  )
}
