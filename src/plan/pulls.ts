import { findRefusedSyncAlert, type SyncObstacle } from '../model/alerts.ts'
import { buildApprovalMark } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
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

/**
 * The campaign's own pull request: opened with the first thing kept, so that it is never empty, kept current, and
 * ready once the campaign has stopped. It follows the ledger (invariant 11); only what people do to it counts.
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

/** Of what the text names: an event has the number of a pull request only once it has ended. */
function listUnrecordedPulls(world: World): Record<string, number> {
  const { picks } = world.campaign
  const named = [...Object.values(picks), ...listDeferred(world)]
  const pullOf = createPullFinder(world)
  return Object.fromEntries(
    named.flatMap(each => {
      const number = each.pull === null ? pullOf(each)?.number : undefined
      return number === undefined ? [] : [[each.id, number]]
    }),
  )
}

function updateOpenPull(world: World, { number, ownComments: said }: CampaignPullFacts): PlanAction[] {
  if (said === undefined || world.spec.report.comment === 'never') return []
  const pullOf = createPullFinder(world)
  const news = listDeferred(world).filter(
    each => !isAlreadyTold(each, said) && !(each.owned && isAlreadyTold(each, pullOf(each)?.ownComments)),
  )
  return news.map(({ id }) => ({ do: 'tell', number, experiment: id }))
}

function listDeferred({ campaign }: World): Experiment[] {
  return listExperiments(campaign).filter(({ status }) => status === 'deferred')
}

function isAlreadyTold(experiment: Experiment, said: string | undefined): boolean {
  return said?.includes(buildApprovalMark(experiment) ?? '') ?? false
}

/**
 * Before the campaign has a pull request people hear of packages that wait on the experiment's own, once: on somebody's
 * by its one comment, on winnow's by a word of its own, since what is changed in a text is mailed to nobody.
 */
export function announceApprovals(world: World): PlanAction[] {
  const { campaign, campaignPull, spec } = world
  if (campaignPull?.state === 'open' || campaign.status === 'none' || spec.report.comment === 'never')
    return []
  const pullOf = createPullFinder(world)
  return listDeferred(world).flatMap(experiment => {
    const pull = experiment.owned ? pullOf(experiment) : undefined
    if (
      pull?.state !== 'open' ||
      pull.ownComments === undefined ||
      isAlreadyTold(experiment, pull.ownComments)
    )
      return []
    return [{ do: 'tell', number: pull.number, experiment: experiment.id, here: true }]
  })
}

/** Something is kept that the default branch lacks, and the branch to offer it from stands there. */
function isPullDue(
  { campaign, campaignTip, defaultTip, sync }: World,
  pull: CampaignPullFacts | null,
): boolean {
  const { incumbent, landings, status, round } = campaign
  const kept = landings.some(({ reverted }) => reverted === null)
  const apart = incumbent.commit !== defaultTip.commit && incumbent.tree !== defaultTip.tree
  const comes = sync !== null && findRefusedSyncAlert(campaign)?.tip !== sync.tip
  if (!kept || !apart || comes || campaignTip !== incumbent.commit || round?.open === true) return false
  return (
    pull === null ||
    (status === 'running' && pull.head !== incumbent.commit) ||
    isPullReopened(campaign, pull)
  )
}

/** Who goes on after it was closed wants it back. */
function isPullReopened({ status, heeded }: Campaign, pull: CampaignPullFacts): boolean {
  return pull.state === 'closed' && status === 'running' && Object.hasOwn(heeded, formatPullCause(pull))
}

/** Merged: the campaign is over. Closed: nobody wants more of it for now. Each once, so that it can go on after. */
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

/** Its head follows the incumbent once a round. */
export function advanceCampaignBranch({ campaign, campaignTip: from, optimizeTip }: World): PlanAction[] {
  const { commit: to } = campaign.incumbent
  if (campaign.round?.open || to === campaign.start.commit) return []
  if (from === to || optimizeTip?.commit !== to) return []
  return [{ do: 'advance-campaign-branch', from, to }]
}

function formatPullCause({ number, state, closed_at }: CampaignPullFacts): string {
  return `${CAMPAIGN_PULL_CAUSE}${number} ${state} ${closed_at ?? ''}`
}

/** Pull requests of changes taken alone, into the default branch: they follow the ledger (invariant 11). */
export function updatePickPulls(world: World): PlanAction[] {
  const pullOf = createPullFinder(world)
  const changes: PullChange[] = []
  const branches: { name: string; oid: string }[] = []
  for (const pick of Object.values(world.campaign.picks)) {
    const pull = pullOf(pick)
    const tip = pick.branch === null ? undefined : world.branches.get(pick.branch)
    // What somebody made theirs is not touched again.
    if (pick.fate === 'left') continue
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

/**
 * While a campaign stands still nothing is opened: who brings a pull request meanwhile is told that once, and what
 * happens to it. It becomes an experiment by itself when the campaign goes on.
 */
export function commentPausedPulls(world: World, obstacle: SyncObstacle | null = null): PlanAction[] {
  const { campaign, pulls, spec, checks } = world
  if (checks !== true || spec.report.comment === 'never') return []
  const open = new Map(pulls.filter(({ state }) => state === 'open').map(pull => [pull.number, pull]))
  return listNewProposals(world).flatMap(({ pull: number, head }) => {
    const pull = number === null ? undefined : open.get(number)
    if (pull === undefined || 'rejected' in head) return []
    const unopened = { number: pull.number, head: head.commit, obstacle }
    const told = (pull.ownComments ?? '').includes(buildPausedMark(campaign, unopened))
    return told ? [] : [{ do: 'greet', ...unopened } as const]
  })
}
