import { approvalMark } from '../model/approval.ts'
import type { Experiment } from '../model/campaign.ts'
import { isLanded } from '../model/outcome.ts'
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
  for (const experiment of Object.values(world.campaign.experiments)) {
    const tip = experiment.branch === null ? undefined : world.branches.get(experiment.branch)
    const pull = pullOf(experiment)
    if (tip !== undefined && !pull && experiment.owned && experiment.status !== 'ended') {
      changes.push({ change: 'open', experiment: experiment.id, branch: experiment.branch ?? '' })
    }
    if (pull && isElsewhere(world, pull)) continue
    if (pull?.state === 'open' && isOutdated(experiment, pull))
      changes.push({ change: 'describe', number: pull.number, experiment: experiment.id })
    if (!experiment.closed) continue
    if (pull?.state === 'open' && !landed(experiment))
      changes.push({ change: 'close', number: pull.number, experiment: experiment.id })
    if (tip === undefined || !experiment.owned || !gone(experiment, pull)) continue
    branches.push({ name: experiment.branch ?? '', oid: tip })
    // Its landing closed it: only what it says is still from before.
    if (pull && landed(experiment))
      changes.push({ change: 'describe', number: pull.number, experiment: experiment.id })
  }
  const actions: Action[] = []
  if (changes.length > 0) actions.push({ do: 'pulls', changes })
  if (branches.length > 0) actions.push({ do: 'delete-branches', branches })
  return actions
}

/** Reviewers read there what waits for them; a person's own pull request is theirs to describe. */
function isOutdated(experiment: Experiment, { body }: PullFacts): boolean {
  if (!experiment.owned || experiment.status === 'ended') return false
  const mark = approvalMark(experiment)
  return mark !== null && !body.includes(mark)
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
