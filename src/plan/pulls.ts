import { buildApprovalMark } from '../model/approval.ts'
import { buildReopenedMark, buildCheckMark } from '../model/check-mark.ts'
import type { Experiment } from '../model/experiment.ts'
import { listExperiments } from '../model/experiments.ts'
import { isLanded } from '../model/outcome.ts'
import { buildCampaignRefs, toShortRef } from '../model/refs.ts'
import type { PlanAction, PullChange } from './action.ts'
import { isForOtherBranch } from './heads.ts'
import { createPullFinder } from './pull-of.ts'
import type { PullFacts, World } from './world.ts'

/**
 * Pull requests and branches follow the ledger, never lead it (invariant 11): what is missing is opened, what
 * has ended is closed, and a branch goes only after the forge has seen its pull request merged or closed.
 */
export function updatePulls(world: World): PlanAction[] {
  const changes: PullChange[] = []
  const branches: { name: string; oid: string }[] = []
  const pullOf = createPullFinder(world)
  for (const experiment of listExperiments(world.campaign)) {
    const { branch, closed } = experiment
    const tip = branch === null ? undefined : world.branches.get(branch)
    const pull = pullOf(experiment)
    if (pull && isForOtherBranch(world, pull)) continue
    const changed = closed ? listClosedChanges : listOpenChanges
    changes.push(...changed(world, experiment, { pull, isHere: tip !== undefined }))
    if (branch !== null && tip !== undefined && isBranchLeft(world, experiment, pull))
      branches.push({ name: branch, oid: tip })
  }
  const actions: PlanAction[] = []
  if (changes.length > 0) actions.push({ do: 'pulls', changes })
  if (branches.length > 0) actions.push({ do: 'delete-branches', branches })
  return actions
}

interface ExperimentPlaces {
  pull: PullFacts | undefined
  /** Its branch is still there. */
  isHere: boolean
}

/** Offered once, and shown as it stands: in its text, or where nothing may be said, by a check alone. */
function listOpenChanges(
  world: World,
  experiment: Experiment,
  { pull, isHere }: ExperimentPlaces,
): PullChange[] {
  const { id, branch } = experiment
  if (pull === undefined)
    return isHere && isOfferedAsPull(world, experiment)
      ? [{ change: 'open', experiment: id, branch: branch ?? '' }]
      : []
  if (pull.state !== 'open') return []
  if (isPullOutdated(world, experiment, pull))
    return [{ change: 'describe', number: pull.number, experiment: id }]
  return isCheckUnseen(world, experiment) ? [{ change: 'show', experiment: id }] : []
}

/** Closed, and told of its end: by its landing or a person it may have been closed before that was said. */
function listClosedChanges(
  world: World,
  experiment: Experiment,
  { pull, isHere }: ExperimentPlaces,
): PullChange[] {
  const { id, owned } = experiment
  if (pull === undefined) return []
  if (pull.state === 'open' && !isLandedExperiment(experiment)) return closePull(world, experiment, pull)
  if (!owned)
    return isLandedExperiment(experiment) || pull.state === 'closed'
      ? announceEnd(world, experiment, pull)
      : []
  if (!isHere || !isPullOver(experiment, pull)) return []
  // Where no check shows what is said there, what its landing closed says what was so before.
  const isOld =
    world.checks === true ? isStateUnshown(world, experiment, pull) : isLandedExperiment(experiment)
  return isOld ? [{ change: 'describe', number: pull.number, experiment: id }] : []
}

/** The branch is what its pull request is found by until all is said there, whoever closed it. */
function isBranchLeft(world: World, experiment: Experiment, pull: PullFacts | undefined): boolean {
  if (!experiment.closed || !experiment.owned || !isPullOver(experiment, pull)) return false
  return !pull || !isStateUnshown(world, experiment, pull)
}

/** Its own experiments; and what somebody only pushed, where it needs a place to be approved at. */
function isOfferedAsPull({ hasPublicPulls: rated, spec, campaign }: World, experiment: Experiment): boolean {
  const { owned, status, pull, branch } = experiment
  if (owned) return status !== 'ended'
  const { experiments } = buildCampaignRefs(spec.branches.prefix, campaign.name)
  const isPushed = pull === null && branch?.startsWith(toShortRef(experiments)) === true
  return rated === true && isPushed && status === 'deferred'
}

/** Reviewers read there what waits for them: of winnow's own in the text, of other people's in a comment. */
function isPullOutdated(world: World, experiment: Experiment, pull: PullFacts): boolean {
  const { status, owned } = experiment
  if (status === 'ended') return false
  if (!owned)
    return (
      canComment(world) && !isMergedByWinnow(world, experiment) && isStateUnshown(world, experiment, pull)
    )
  // A draft cannot be merged, by whomever.
  if (status === 'landing' && pull.draft === true) return true
  if (world.checks === true) return isStateUnshown(world, experiment, pull)
  const mark = buildApprovalMark(experiment)
  return mark !== null && !pull.body.includes(mark)
}

/** Nobody else has to do anything: what they are told next is that it is merged. */
function isMergedByWinnow({ spec }: World, { status }: Experiment): boolean {
  return status === 'landing' && spec.merge.auto
}

/** Its head does not show how it stands; what is said of it is written after that is shown, and so tells it (invariant 7). */
function isStateUnshown(
  { checks, campaign }: World,
  experiment: Experiment,
  { body, ownComments: said }: PullFacts,
): boolean {
  if (checks !== true) return false
  return !(experiment.owned ? body : (said ?? '')).includes(buildCheckMark(campaign, experiment))
}

function canComment({ spec }: World): boolean {
  return spec.report.comment !== 'never'
}

/** Where nothing may be said, each process shows what it finds, once. */
function isCheckUnseen(world: World, experiment: Experiment): boolean {
  const { checks, shownChecks: shown, campaign } = world
  if (checks !== true || canComment(world) || experiment.owned || experiment.status === 'ended') return false
  return campaign.status === 'running' && shown?.get(experiment.id) !== buildCheckMark(campaign, experiment)
}

/**
 * An experiment that has ended is closed. Who opens it again as it is, is told once why it is closed again and what to
 * do, and then left alone; with another head it is the next experiment, if anything.
 */
function closePull(world: World, experiment: Experiment, pull: PullFacts): PullChange[] {
  const { id, head, owned } = experiment
  const { number, ownComments: said } = pull
  if (!owned && pull.head !== head) return []
  const change = { change: 'close', number, experiment: id } as const
  if (said === undefined || !isPullOpenedAgain(world, experiment, pull)) return [change]
  return said.includes(buildReopenedMark(experiment, pull.head)) ? [] : [{ ...change, again: pull.head }]
}

/** Closed for another experiment it may have been before; that this one has ended is said by what closed it. */
function isPullOpenedAgain(world: World, experiment: Experiment, pull: PullFacts): boolean {
  if (pull.reopened !== true) return false
  return (!experiment.owned && !canComment(world)) || !isStateUnshown(world, experiment, pull)
}

/** Of a pull request that its landing has merged, or a person closed, however long ago: only who was told of it hears the end. */
function announceEnd(world: World, experiment: Experiment, pull: PullFacts): PullChange[] {
  const { number, ownComments: said = '', state } = pull
  const { id } = experiment
  if (canComment(world) && said !== '')
    return isStateUnshown(world, experiment, pull) ? [{ change: 'describe', number, experiment: id }] : []
  const isNews =
    world.checks === true && world.shownChecks?.get(id) !== buildCheckMark(world.campaign, experiment)
  return state === 'open' && isNews ? [{ change: 'show', experiment: id }] : []
}

function isLandedExperiment(experiment: Experiment): boolean {
  return experiment.outcome !== null && isLanded(experiment.outcome)
}

/** The forge has seen it end. */
function isPullOver(experiment: Experiment, pull: PullFacts | undefined): boolean {
  if (!pull) return !isLandedExperiment(experiment)
  return isLandedExperiment(experiment) ? pull.state === 'merged' : pull.state === 'closed'
}
