import { approvalMark } from '../model/approval.ts'
import { againMark, checkMark } from '../model/check-mark.ts'
import type { Experiment } from '../model/experiment.ts'
import { experimentsOf } from '../model/experiments.ts'
import { isLanded } from '../model/outcome.ts'
import { campaignRefs, shortRef } from '../model/refs.ts'
import type { Action, PullChange } from './action.ts'
import { isElsewhere } from './heads.ts'
import { pullFinder } from './pull-of.ts'
import type { PullFacts, World } from './world.ts'

/**
 * Pull requests and branches follow the ledger, never lead it (invariant 11): what is missing is opened, what
 * has ended is closed, and a branch goes only after the forge has seen its pull request merged or closed.
 */
export function pullActions(world: World): Action[] {
  const changes: PullChange[] = []
  const branches: { name: string; oid: string }[] = []
  const pullOf = pullFinder(world)
  for (const experiment of experimentsOf(world.campaign)) {
    const { branch, closed } = experiment
    const tip = branch === null ? undefined : world.branches.get(branch)
    const pull = pullOf(experiment)
    if (pull && isElsewhere(world, pull)) continue
    const changed = closed ? closedChanges : openChanges
    changes.push(...changed(world, experiment, { pull, isHere: tip !== undefined }))
    if (branch !== null && tip !== undefined && isLeft(world, experiment, pull))
      branches.push({ name: branch, oid: tip })
  }
  const actions: Action[] = []
  if (changes.length > 0) actions.push({ do: 'pulls', changes })
  if (branches.length > 0) actions.push({ do: 'delete-branches', branches })
  return actions
}

interface Places {
  pull: PullFacts | undefined
  /** Its branch is still there. */
  isHere: boolean
}

/** Offered once, and shown as it stands: in its text, or where nothing may be said, by a check alone. */
function openChanges(world: World, experiment: Experiment, { pull, isHere }: Places): PullChange[] {
  const { id, branch } = experiment
  if (pull === undefined)
    return isHere && isOffered(world, experiment)
      ? [{ change: 'open', experiment: id, branch: branch ?? '' }]
      : []
  if (pull.state !== 'open') return []
  if (isOutdated(world, experiment, pull))
    return [{ change: 'describe', number: pull.number, experiment: id }]
  return isUnseen(world, experiment) ? [{ change: 'show', experiment: id }] : []
}

/** Closed, and told of its end: by its landing or a person it may have been closed before that was said. */
function closedChanges(world: World, experiment: Experiment, { pull, isHere }: Places): PullChange[] {
  const { id, owned } = experiment
  if (pull === undefined) return []
  if (pull.state === 'open' && !landed(experiment)) return closing(world, experiment, pull)
  if (!owned) return landed(experiment) || pull.state === 'closed' ? tellEnded(world, experiment, pull) : []
  if (!isHere || !isOver(experiment, pull)) return []
  // Where no check shows what is said there, what its landing closed says what was so before.
  const isOld = world.checks === true ? isUnshown(world, experiment, pull) : landed(experiment)
  return isOld ? [{ change: 'describe', number: pull.number, experiment: id }] : []
}

/** The branch is what its pull request is found by until all is said there, whoever closed it. */
function isLeft(world: World, experiment: Experiment, pull: PullFacts | undefined): boolean {
  if (!experiment.closed || !experiment.owned || !isOver(experiment, pull)) return false
  return !pull || !isUnshown(world, experiment, pull)
}

/** Its own experiments; and what somebody only pushed, where it needs a place to be approved at. */
function isOffered({ rated, spec, campaign }: World, experiment: Experiment): boolean {
  const { owned, status, pull, branch } = experiment
  if (owned) return status !== 'ended'
  const { experiments } = campaignRefs(spec.branches.prefix, campaign.name)
  const isPushed = pull === null && branch?.startsWith(shortRef(experiments)) === true
  return rated === true && isPushed && status === 'deferred'
}

/** Reviewers read there what waits for them: of winnow's own in the text, of other people's in a comment. */
function isOutdated(world: World, experiment: Experiment, pull: PullFacts): boolean {
  const { status, owned } = experiment
  if (status === 'ended') return false
  if (!owned) return comments(world) && !isMergedByUs(world, experiment) && isUnshown(world, experiment, pull)
  // A draft cannot be merged, by whomever.
  if (status === 'landing' && pull.draft === true) return true
  if (world.checks === true) return isUnshown(world, experiment, pull)
  const mark = approvalMark(experiment)
  return mark !== null && !pull.body.includes(mark)
}

/** Nobody else has to do anything: what they are told next is that it is merged. */
function isMergedByUs({ spec }: World, { status }: Experiment): boolean {
  return status === 'landing' && spec.merge.auto
}

/** Its head does not show how it stands; what is said of it is written after that is shown, and so tells it (invariant 7). */
function isUnshown({ checks, campaign }: World, experiment: Experiment, { body, said }: PullFacts): boolean {
  if (checks !== true) return false
  return !(experiment.owned ? body : (said ?? '')).includes(checkMark(campaign, experiment))
}

function comments({ spec }: World): boolean {
  return spec.report.comment !== 'never'
}

/** Where nothing may be said, each process shows what it finds, once. */
function isUnseen(world: World, experiment: Experiment): boolean {
  const { checks, shown, campaign } = world
  if (checks !== true || comments(world) || experiment.owned || experiment.status === 'ended') return false
  return campaign.status === 'running' && shown?.get(experiment.id) !== checkMark(campaign, experiment)
}

/**
 * An experiment that has ended is closed. Who opens it again as it is, is told once why it is closed again and what to
 * do, and then left alone; with another head it is the next experiment, if anything.
 */
function closing(world: World, experiment: Experiment, pull: PullFacts): PullChange[] {
  const { id, head, owned } = experiment
  const { number, said } = pull
  if (!owned && pull.head !== head) return []
  const change = { change: 'close', number, experiment: id } as const
  if (said === undefined || !isReopened(world, experiment, pull)) return [change]
  return said.includes(againMark(experiment, pull.head)) ? [] : [{ ...change, again: pull.head }]
}

/** Closed for another experiment it may have been before; that this one has ended is said by what closed it. */
function isReopened(world: World, experiment: Experiment, pull: PullFacts): boolean {
  if (pull.reopened !== true) return false
  return (!experiment.owned && !comments(world)) || !isUnshown(world, experiment, pull)
}

/** Of a pull request that its landing has merged, or a person closed, however long ago: only who was told of it hears the end. */
function tellEnded(world: World, experiment: Experiment, pull: PullFacts): PullChange[] {
  const { number, said = '', state } = pull
  const { id } = experiment
  if (comments(world) && said !== '')
    return isUnshown(world, experiment, pull) ? [{ change: 'describe', number, experiment: id }] : []
  const isNews = world.checks === true && world.shown?.get(id) !== checkMark(world.campaign, experiment)
  return state === 'open' && isNews ? [{ change: 'show', experiment: id }] : []
}

function landed(experiment: Experiment): boolean {
  return experiment.outcome !== null && isLanded(experiment.outcome)
}

/** The forge has seen it end. */
function isOver(experiment: Experiment, pull: PullFacts | undefined): boolean {
  if (!pull) return !landed(experiment)
  return landed(experiment) ? pull.state === 'merged' : pull.state === 'closed'
}
