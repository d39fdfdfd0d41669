import { findRefusedSyncAlert } from '../model/alerts.ts'
import { buildApprovalMark } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { SyncObstacle } from '../model/event-schemas.ts'
import { buildPausedMark, type Experiment, listExperiments, type PickedChange } from '../model/experiment.ts'
import { CAMPAIGN_PULL_CAUSE } from '../model/fold/fold.ts'
import { buildCampaignRefs, toShortRef } from '../model/ids.ts'
import {
  buildCampaignPullMark,
  buildCheckMark,
  buildPickMark,
  buildReopenedMark,
  type CampaignPullState,
} from '../model/marks.ts'
import { isLanded } from '../model/verdict.ts'
import type { PlanAction, PlanStep, PullChange } from './action.ts'
import { isForOtherBranch } from './branch-changes.ts'
import { listNewProposals } from './intake.ts'
import { isRestartDue } from './stop.ts'
import { type CampaignPullFacts, createPullFinder, type PullFacts, type World } from './world.ts'

// Pull requests of experiments

/**
 * Invariant 11: pull requests and branches follow the ledger, never lead it. winnow opens those that are
 * missing, closes those that have ended, and deletes a branch only after GitHub shows its pull request merged
 * or closed.
 */
export function updatePulls(world: World): PlanAction[] {
  const changes: PullChange[] = []
  const branches: { name: string; oid: string }[] = []
  const findPull = createPullFinder(world)
  for (const experiment of listExperiments(world.campaign)) {
    const { branch, closed } = experiment
    const tip = branch === null ? undefined : world.branches.get(branch)
    const pull = findPull(experiment)
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

interface PullState {
  pull: PullFacts | undefined
  isHere: boolean
}

/**
 * Opens the pull request once, then shows the current state: in its text, or by a check alone where comments
 * are off.
 */
function listOpenChanges(world: World, experiment: Experiment, { pull, isHere }: PullState): PullChange[] {
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

/**
 * Closes the pull request and describes its end. A landing or a person may have closed it before that was
 * described.
 */
function listClosedChanges(world: World, experiment: Experiment, { pull, isHere }: PullState): PullChange[] {
  const { id, owned } = experiment
  if (pull === undefined) return []
  if (pull.state === 'open' && !isLandedExperiment(experiment)) return closePull(world, experiment, pull)
  if (!owned)
    return isLandedExperiment(experiment) || pull.state === 'closed'
      ? announceEnd(world, experiment, pull)
      : []
  if (!isHere || !isPullOver(experiment, pull)) return []
  // Without checks no mark shows the state, and the text of a pull request that its landing closed is
  // outdated.
  const isOld =
    world.checks === true ? isStateUnshown(world, experiment, pull) : isLandedExperiment(experiment)
  return isOld ? [{ change: 'describe', number: pull.number, experiment: id }] : []
}

/** winnow finds the pull request by its branch, so the branch stays until the end is described there. */
function isBranchLeft(world: World, experiment: Experiment, pull: PullFacts | undefined): boolean {
  if (!experiment.closed || !experiment.owned || !isPullOver(experiment, pull)) return false
  return !pull || !isStateUnshown(world, experiment, pull)
}

/** Offers winnow's own experiments, and a pushed branch that needs a place for its approval. */
function isOfferedAsPull({ hasPublicPulls: rated, spec, campaign }: World, experiment: Experiment): boolean {
  const { owned, status, pull, branch } = experiment
  if (owned) return status !== 'ended'
  const { experiments } = buildCampaignRefs(spec.branches.prefix, campaign.name)
  const isPushed = pull === null && branch?.startsWith(toShortRef(experiments)) === true
  return rated === true && isPushed && status === 'deferred'
}

/**
 * Reviewers read the state there: in the text of winnow's own pull requests, in a comment on those of other
 * people.
 */
function isPullOutdated(world: World, experiment: Experiment, pull: PullFacts): boolean {
  const { status, owned } = experiment
  if (status === 'ended') return false
  if (!owned)
    return (
      canComment(world) && !isMergedByWinnow(world, experiment) && isStateUnshown(world, experiment, pull)
    )
  // GitHub cannot merge a draft.
  if (status === 'landing' && pull.draft === true) return true
  if (world.checks === true) return isStateUnshown(world, experiment, pull)
  const mark = buildApprovalMark(experiment)
  return mark !== null && !pull.body.includes(mark)
}

/** No person has to act: the next comment says that it is merged. */
function isMergedByWinnow({ spec }: World, { status }: Experiment): boolean {
  return status === 'landing' && spec.merge.auto
}

/** The text is written after the check is shown, so the mark in it proves both (invariant 7). */
function isStateUnshown(
  { checks, campaign }: World,
  experiment: Experiment,
  { body, ownComments }: PullFacts,
): boolean {
  if (checks !== true) return false
  return !(experiment.owned ? body : (ownComments ?? '')).includes(buildCheckMark(campaign, experiment))
}

function canComment({ spec }: World): boolean {
  return spec.report.comment !== 'never'
}

/** Where comments are off no mark stays on GitHub, so each process shows its check once. */
function isCheckUnseen(world: World, experiment: Experiment): boolean {
  const { checks, shownChecks: shown, campaign } = world
  if (checks !== true || canComment(world) || experiment.owned || experiment.status === 'ended') return false
  return campaign.status === 'running' && shown?.get(experiment.id) !== buildCheckMark(campaign, experiment)
}

/**
 * Closes the pull request of an ended experiment. If a person reopens it unchanged, one comment says why it
 * is closed again and what to do, and winnow then leaves it alone. With another head it is the next
 * experiment, if any.
 */
function closePull(world: World, experiment: Experiment, pull: PullFacts): PullChange[] {
  const { id, head, owned } = experiment
  const { number, ownComments } = pull
  if (!owned && pull.head !== head) return []
  const change = { change: 'close', number, experiment: id } as const
  if (ownComments === undefined || !isPullOpenedAgain(world, experiment, pull)) return [change]
  return ownComments.includes(buildReopenedMark(experiment, pull.head))
    ? []
    : [{ ...change, again: pull.head }]
}

/**
 * An earlier experiment may have closed the same pull request; the mark shows that this one's end was
 * described.
 */
function isPullOpenedAgain(world: World, experiment: Experiment, pull: PullFacts): boolean {
  if (pull.reopened !== true) return false
  return (!experiment.owned && !canComment(world)) || !isStateUnshown(world, experiment, pull)
}

/**
 * Describes the end of a pull request that its landing merged, or a person closed, only where winnow
 * commented before, however long ago.
 */
function announceEnd(world: World, experiment: Experiment, pull: PullFacts): PullChange[] {
  const { number, ownComments = '', state } = pull
  const { id } = experiment
  if (canComment(world) && ownComments !== '')
    return isStateUnshown(world, experiment, pull) ? [{ change: 'describe', number, experiment: id }] : []
  const isNews =
    world.checks === true && world.shownChecks?.get(id) !== buildCheckMark(world.campaign, experiment)
  return state === 'open' && isNews ? [{ change: 'show', experiment: id }] : []
}

function isLandedExperiment(experiment: Experiment): boolean {
  return experiment.outcome !== null && isLanded(experiment.outcome)
}

function isPullOver(experiment: Experiment, pull: PullFacts | undefined): boolean {
  if (!pull) return !isLandedExperiment(experiment)
  return isLandedExperiment(experiment) ? pull.state === 'merged' : pull.state === 'closed'
}

// The campaign's own pull request

/**
 * The campaign's own pull request follows the ledger (invariant 11). winnow opens it with the first kept
 * change, so that it is never empty, keeps it current, and marks it ready once the campaign has stopped. Only
 * what people do to it counts.
 */
export function updateCampaignPull(world: World): PlanAction[] {
  const { campaign, campaignPull } = world
  if (campaignPull === undefined || campaign.status === 'none') return []
  const ready = campaign.status === 'stopped'
  const open = campaignPull?.state === 'open'
  if (campaignPull && (open || isItsMerge(campaign, campaignPull))) {
    const { number, body, draft } = campaignPull
    const state = { merged: !open, pulls: listUnrecordedPulls(world) }
    const current = body.includes(buildCampaignPullMark(campaign, state)) && !(open && ready && draft)
    const shows = isPlain(state) ? {} : { shows: state }
    return [
      ...(current ? [] : [{ do: 'campaign-pull', number, ready: open && ready, ...shows } as const]),
      ...(open ? updateOpenPull(world, campaignPull) : []),
    ]
  }
  return isPullDue(world, campaignPull) ? [{ do: 'campaign-pull', number: null, ready }] : []
}

/** Merged with all that the campaign has: its text no longer asks for the merge. */
function isItsMerge(campaign: Campaign, pull: CampaignPullFacts): boolean {
  if (pull.state !== 'merged' || campaign.status !== 'stopped') return false
  return pull.head === campaign.incumbent.commit || Object.hasOwn(campaign.heeded, formatPullCause(pull))
}

function isPlain({ merged, pulls }: CampaignPullState): boolean {
  return !merged && Object.keys(pulls).length === 0
}

/** The text names these pull requests, and the ledger has their numbers only once they have ended. */
function listUnrecordedPulls(world: World): Record<string, number> {
  const { picks } = world.campaign
  const named = [...Object.values(picks), ...listDeferred(world)]
  const findPull = createPullFinder(world)
  return Object.fromEntries(
    named.flatMap(each => {
      const number = each.pull === null ? findPull(each)?.number : undefined
      return number === undefined ? [] : [[each.id, number]]
    }),
  )
}

function updateOpenPull(world: World, { number, ownComments }: CampaignPullFacts): PlanAction[] {
  if (ownComments === undefined || world.spec.report.comment === 'never') return []
  const findPull = createPullFinder(world)
  const unannounced = listDeferred(world).filter(
    each =>
      !hasApprovalComment(each, ownComments) &&
      !(each.owned && hasApprovalComment(each, findPull(each)?.ownComments)),
  )
  return unannounced.map(({ id }) => ({ do: 'tell', number, experiment: id }))
}

function listDeferred({ campaign }: World): Experiment[] {
  return listExperiments(campaign).filter(({ status }) => status === 'deferred')
}

function hasApprovalComment(experiment: Experiment, ownComments: string | undefined): boolean {
  return ownComments?.includes(buildApprovalMark(experiment) ?? '') ?? false
}

/**
 * Before the campaign has a pull request, one comment on the experiment's own pull request announces packages
 * that wait for approval. On a person's it is part of winnow's single comment. On winnow's own it is a
 * separate comment, since an edited text sends no mail.
 */
export function announceApprovals(world: World): PlanAction[] {
  const { campaign, campaignPull, spec } = world
  if (campaignPull?.state === 'open' || campaign.status === 'none' || spec.report.comment === 'never')
    return []
  const findPull = createPullFinder(world)
  return listDeferred(world).flatMap(experiment => {
    const pull = experiment.owned ? findPull(experiment) : undefined
    if (
      pull?.state !== 'open' ||
      pull.ownComments === undefined ||
      hasApprovalComment(experiment, pull.ownComments)
    )
      return []
    return [{ do: 'tell', number: pull.number, experiment: experiment.id, here: true }]
  })
}

/** A kept change is not on the default branch yet, and the campaign branch is there to offer it from. */
function isPullDue(
  { campaign, campaignTip, defaultTip, sync }: World,
  pull: CampaignPullFacts | null,
): boolean {
  const { incumbent, landings, status, round } = campaign
  const kept = landings.some(({ reverted }) => reverted === null)
  const differs = incumbent.commit !== defaultTip.commit && incumbent.tree !== defaultTip.tree
  const isSyncDue = sync !== null && findRefusedSyncAlert(campaign)?.tip !== sync.tip
  if (!kept || !differs || isSyncDue || campaignTip !== incumbent.commit || round?.open === true) return false
  return (
    pull === null ||
    (status === 'running' && pull.head !== incumbent.commit) ||
    isPullReopened(campaign, pull)
  )
}

/** A person who resumes the campaign after its pull request was closed wants it back. */
function isPullReopened({ status, heeded }: Campaign, pull: CampaignPullFacts): boolean {
  return pull.state === 'closed' && status === 'running' && Object.hasOwn(heeded, formatPullCause(pull))
}

/**
 * A merge ends the campaign, a close pauses it. Each is recorded once, so that the campaign can go on
 * afterwards.
 */
export function recordCampaignPullEnd(world: World): PlanStep[] {
  const { campaign, campaignPull: pull } = world
  if (!pull || pull.state === 'open' || Object.hasOwn(campaign.heeded, formatPullCause(pull))) return []
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

/** The campaign branch follows the incumbent once a round. */
export function advanceCampaignBranch({ campaign, campaignTip: from, optimizeTip }: World): PlanAction[] {
  const { commit: to } = campaign.incumbent
  if (campaign.round?.open || to === campaign.start.commit) return []
  if (from === to || optimizeTip?.commit !== to) return []
  return [{ do: 'advance-campaign-branch', from, to }]
}

function formatPullCause({ number, state, closed_at }: CampaignPullFacts): string {
  return `${CAMPAIGN_PULL_CAUSE}${number} ${state} ${closed_at ?? ''}`
}

// Pull requests of picks

/** Pull requests of picks, into the default branch: they follow the ledger (invariant 11). */
export function updatePickPulls(world: World): PlanAction[] {
  const findPull = createPullFinder(world)
  const changes: PullChange[] = []
  const branches: { name: string; oid: string }[] = []
  for (const pick of Object.values(world.campaign.picks)) {
    const pull = findPull(pick)
    const tip = pick.branch === null ? undefined : world.branches.get(pick.branch)
    // A person has taken this branch over: winnow does not touch it again.
    if (pick.pick_end === 'left') continue
    const change = selectPickChange(world, pick, { pull, isHere: tip !== undefined && tip === pick.head })
    if (change !== null) changes.push(change)
    if (pick.closed && tip !== undefined && tip === pick.head && pull?.state !== 'open')
      branches.push({ name: pick.branch ?? '', oid: tip })
  }
  return [
    ...(changes.length === 0 ? [] : [{ do: 'pulls', changes } as const]),
    ...(branches.length === 0 ? [] : [{ do: 'delete-branches', branches } as const]),
  ]
}

function selectPickChange(
  { campaign }: World,
  pick: PickedChange,
  { pull, isHere }: { pull: PullFacts | undefined; isHere: boolean },
): PullChange | null {
  const { id: experiment, closed, branch } = pick
  if (pull === undefined)
    return isHere && !closed ? { change: 'open', experiment, branch: branch ?? '' } : null
  if (pull.state !== 'open') return null
  const { number } = pull
  if (closed) return { change: 'close', number, experiment }
  return pull.body.includes(buildPickMark(campaign, pick)) ? null : { change: 'describe', number, experiment }
}

// New pull requests of a paused campaign

/**
 * A paused or stopped campaign opens no experiments. One comment on a new pull request says so, and that it
 * becomes an experiment when the campaign goes on.
 */
export function commentPausedPulls(world: World, obstacle: SyncObstacle | null = null): PlanAction[] {
  const { campaign, pulls, spec, checks } = world
  if (checks !== true || spec.report.comment === 'never') return []
  const open = new Map(pulls.filter(({ state }) => state === 'open').map(pull => [pull.number, pull]))
  return listNewProposals(world).flatMap(({ pull: number, head }) => {
    const pull = number === null ? undefined : open.get(number)
    if (pull === undefined || 'rejected' in head) return []
    const unopened = { number: pull.number, head: head.commit, obstacle }
    const isCommented = (pull.ownComments ?? '').includes(buildPausedMark(campaign, unopened))
    return isCommented ? [] : [{ do: 'greet', ...unopened } as const]
  })
}
