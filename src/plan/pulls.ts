import { approvalMark, awaitedPackages, setMark } from '../model/approval.ts'
import { checkMark } from '../model/check-mark.ts'
import type { Experiment } from '../model/experiment.ts'
import { AWAITS_MERGE } from '../model/landing.ts'
import { isLanded } from '../model/outcome.ts'
import type { Action, PullChange } from './action.ts'
import { awaitsPermission, permissionText } from '../model/permission.ts'
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
  for (const experiment of Object.values(world.campaign.experiments)) {
    const tip = experiment.branch === null ? undefined : world.branches.get(experiment.branch)
    const pull = pullOf(experiment)
    if (tip !== undefined && !pull && experiment.owned && experiment.status !== 'ended') {
      changes.push({ change: 'open', experiment: experiment.id, branch: experiment.branch ?? '' })
    }
    if (pull && isElsewhere(world, pull)) continue
    if (pull?.state === 'open' && isOutdated(world, experiment, pull))
      changes.push({ change: 'describe', number: pull.number, experiment: experiment.id })
    if (!experiment.closed) continue
    if (pull?.state === 'open' && !landed(experiment))
      changes.push({ change: 'close', number: pull.number, experiment: experiment.id })
    if (pull?.state === 'open' && landed(experiment) && !experiment.owned && world.checks === true)
      changes.push({ change: 'show', number: pull.number, experiment: experiment.id })
    if (tip === undefined || !experiment.owned || !gone(experiment, pull)) continue
    // The branch is what its pull request is found by until all is said there.
    if (pull && landed(experiment) && isUnshown(world, experiment, pull)) {
      changes.push({ change: 'describe', number: pull.number, experiment: experiment.id })
      continue
    }
    branches.push({ name: experiment.branch ?? '', oid: tip })
    // Its landing closed it: only what it says is still from before.
    if (pull && landed(experiment) && world.checks !== true)
      changes.push({ change: 'describe', number: pull.number, experiment: experiment.id })
  }
  const actions: Action[] = []
  if (changes.length > 0) actions.push({ do: 'pulls', changes })
  if (branches.length > 0) actions.push({ do: 'delete-branches', branches })
  return actions
}

/** Reviewers read there what waits for them: of winnow's own in the text, of other people's in a comment. */
function isOutdated(world: World, experiment: Experiment, pull: PullFacts): boolean {
  if (experiment.status === 'ended') return false
  const mark = approvalMark(experiment)
  if (!experiment.owned) return isUnsaid(world, experiment, pull)
  // A draft cannot be merged, by whomever.
  if (experiment.status === 'landing' && pull.draft === true) return true
  return (mark !== null && !pull.body.includes(mark)) || isUnshown(world, experiment, pull)
}

/** What is needed of people is said once: only what is needed of others is another comment. */
function isUnsaid({ spec }: World, experiment: Experiment, { said }: PullFacts): boolean {
  if (said === undefined) return false
  if (awaitsPermission(experiment)) return !said.includes(permissionText(experiment))
  if (experiment.status === 'landing') return !spec.merge.auto && !said.includes(AWAITS_MERGE)
  const mark = approvalMark(experiment)
  // A set that nobody has to look at is no news; that one which waited was approved is told where it waited.
  const concerns = awaitedPackages(experiment).length > 0 || said.includes(setMark(experiment) ?? '')
  return mark !== null && concerns && !said.includes(mark)
}

/** Its head does not show how it stands; the text is written after that is shown, and so tells it (invariant 7). */
function isUnshown({ checks }: World, experiment: Experiment, { body }: PullFacts): boolean {
  return checks === true && experiment.owned && !body.includes(checkMark(experiment))
}

function landed(experiment: Experiment): boolean {
  return experiment.outcome !== null && isLanded(experiment.outcome)
}

function gone(experiment: Experiment, pull: PullFacts | undefined): boolean {
  if (!pull) return !landed(experiment)
  return landed(experiment) ? pull.state === 'merged' : pull.state === 'closed'
}

/** The campaign pull request's head follows the incumbent once a round. */
export function campaignBranch(world: World): Action[] {
  const { campaign } = world
  if (campaign.round?.open || campaign.incumbent.commit === campaign.start.commit) return []
  if (
    world.campaignTip === campaign.incumbent.commit ||
    world.optimizeTip?.commit !== campaign.incumbent.commit
  )
    return []
  return [{ do: 'advance-campaign-branch', from: world.campaignTip, to: campaign.incumbent.commit }]
}
