import { type Experiment, listExperiments } from '../model/experiment.ts'
import { CAMPAIGN_PULL_CAUSE } from '../model/fold/fold.ts'
import { isLanded } from '../model/verdict.ts'
import { type PlanAction, type PlanStep, raiseAlert } from './action.ts'
import { isForOtherBranch } from './branch-changes.ts'
import { isRestartDue } from './stop.ts'
import { type CampaignPullFacts, createPullFinder, type PullFacts, type World } from './world.ts'

/** One push names each branch twice, and the system limits its arguments. The next plan finds the others. */
const MOST_DELETED_AT_ONCE = 300

/** Invariant 11. On GitHub a branch stays until its pull request is over, which is found by it. */
export function deleteEndedBranches(world: World): PlanAction[] {
  const all = [...listEndedBranches(world), ...listEndedPickBranches(world)]
  const branches = all.slice(0, MOST_DELETED_AT_ONCE)
  return branches.length === 0 ? [] : [{ do: 'delete-branches', branches }]
}

interface BranchTip {
  name: string
  oid: string
}

function listEndedBranches(world: World): BranchTip[] {
  const findPull = createPullFinder(world)
  return listExperiments(world.campaign).flatMap(experiment => {
    const { branch, closed, owned } = experiment
    const tip = branch === null || !closed || !owned ? undefined : world.branches.get(branch)
    if (branch === null || tip === undefined) return []
    const pull = findPull(experiment)
    if (pull && isForOtherBranch(world, pull)) return []
    return world.hasPublicPulls !== true || isPullOver(experiment, pull) ? [{ name: branch, oid: tip }] : []
  })
}

function listEndedPickBranches(world: World): BranchTip[] {
  const findPull = createPullFinder(world)
  return Object.values(world.campaign.picks).flatMap(pick => {
    const { branch, closed, pick_end, head } = pick
    const tip = branch === null ? undefined : world.branches.get(branch)
    // A person has taken this branch over: winnow does not touch it again.
    if (branch === null || tip === undefined || pick_end === 'left') return []
    return closed && tip === head && findPull(pick)?.state !== 'open' ? [{ name: branch, oid: tip }] : []
  })
}

export function isLandedExperiment(experiment: Experiment): boolean {
  return experiment.outcome !== null && isLanded(experiment.outcome)
}

export function isPullOver(experiment: Experiment, pull: PullFacts | undefined): boolean {
  if (!pull) return !isLandedExperiment(experiment)
  return isLandedExperiment(experiment) ? pull.state === 'merged' : pull.state === 'closed'
}

/** Raised once: it ends by itself as winnow closes what it has measured, or when a person closes others. */
export function reportUnreadPulls(world: World): PlanStep[] {
  const last = world.pulls.find(({ newerUnread }) => newerUnread !== undefined)
  if (last === undefined) return []
  const message = `more than ${last.newerUnread} pull requests into ${last.base} are open, and winnow reads the oldest ${last.newerUnread}: those opened after #${last.number} wait until others are closed`
  return raiseAlert(world, { code: 'too-many-pulls', about: null, message })
}

// The campaign's own pull request

/** A merge ends the campaign, a close pauses it. Each is recorded once, so that it can go on afterwards. */
export function recordCampaignPullEnd(world: World): PlanStep[] {
  const { campaign, campaignPull: pull } = world
  if (!pull || pull.state === 'open' || Object.hasOwn(campaign.handled, formatPullCause(pull))) return []
  const cause = formatPullCause(pull)
  if (pull.state === 'merged' && (campaign.status !== 'stopped' || isRestartDue(world))) {
    const reason = `its pull request #${pull.number} was merged`
    return [{ step: 'event', draft: { kind: 'campaign-stopped', cause, code: 'merged', reason } }]
  }
  if (pull.state === 'closed' && campaign.status === 'running') {
    const reason = `its pull request #${pull.number} was closed; winnow resume opens another one`
    return [{ step: 'event', draft: { kind: 'campaign-paused', cause, reason, source: 'person' } }]
  }
  return []
}

/** The cause of the event that records how the pull request ended. */
export function formatPullCause({ number, state, closed_at }: CampaignPullFacts): string {
  return `${CAMPAIGN_PULL_CAUSE}${number} ${state} ${closed_at ?? ''}`
}

/** The campaign branch follows the incumbent once a round. */
export function advanceCampaignBranch({ campaign, campaignTip: from, optimizeTip }: World): PlanAction[] {
  const { commit: to } = campaign.incumbent
  if (campaign.round?.open || to === campaign.start.commit) return []
  if (from === to || optimizeTip?.commit !== to) return []
  return [{ do: 'advance-campaign-branch', from, to }]
}
