import { truncateBody } from '../../github/comments.ts'
import type { ForgeChange, NewPull } from '../../github/port.ts'
import { computeMarkerKey } from '../../github/pull-node.ts'
import { findRefusedSyncAlert } from '../../model/alerts.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { SyncObstacle } from '../../model/event-schemas.ts'
import { type Experiment, listExperiments, type PickedChange } from '../../model/experiment.ts'
import type { Check } from '../../model/github.ts'
import { buildCampaignRefs, toShortRef } from '../../model/ids.ts'
import { isForOtherBranch } from '../../plan/branch-changes.ts'
import { listNewProposals } from '../../plan/intake.ts'
import { formatPullCause, isLandedExperiment, isPullOver } from '../../plan/pulls.ts'
import { type CampaignPullFacts, createPullFinder, type PullFacts, type World } from '../../plan/world.ts'
import { renderApprovalComment } from '../../report/approval.ts'
import {
  COUNTS_LINE,
  renderCampaignPullBody,
  renderCampaignPullTitle,
} from '../../report/campaign-pull-request.ts'
import { buildCheckRun, buildPausedCheck, renderPausedComment } from '../../report/check-run.ts'
import type { PageUrl } from '../../report/github-names.ts'
import {
  renderEndedComment,
  renderPickBody,
  renderPullBody,
  renderPullTitle,
  renderPushedBranchBody,
  renderReopenedComment,
} from '../../report/pull-request.ts'

/** The single comment that shows a state on another person's pull request. */
const VERDICT = 'verdict'

interface DesiredContext {
  world: World
  /** Why a running campaign cannot open new ideas. */
  obstacle: SyncObstacle | null
  page: PageUrl
}

/** What GitHub should show, as a pure function of the campaign and of what was observed there (invariant 11). */
export function renderDesiredPulls(context: DesiredContext): DesiredPull[] {
  const { world } = context
  if (world.campaign.status === 'none') return []
  const findPull = createPullFinder(world)
  const experiments = listExperiments(world.campaign).flatMap(experiment => {
    const pull = findPull(experiment)
    if (pull && isForOtherBranch(world, pull)) return []
    const desired = experiment.closed
      ? renderEndedPull(context, experiment, pull)
      : renderLivePull(context, experiment, pull)
    return desired ?? []
  })
  const picks = Object.values(world.campaign.picks).flatMap(
    pick => renderPickPull(context, pick, findPull(pick)) ?? [],
  )
  return [...experiments, ...picks, ...renderCampaignPull(context), ...renderUnopenedPulls(context)]
}

function canComment({ spec }: World): boolean {
  return spec.report.comment !== 'never'
}

// Experiments

function renderLivePull(
  { world, page }: DesiredContext,
  experiment: Experiment,
  pull: PullFacts | undefined,
): DesiredPull | null {
  const { campaign, spec } = world
  const { owned, status } = experiment
  if (status === 'ended') return null
  const check = buildCheckRun(campaign, experiment, page)
  const title = renderPullTitle(experiment)
  const body = renderPullBody(campaign, experiment, { page, approvers: spec.dependencies.approvers })
  if (pull === undefined) {
    if (!isOffered(world, experiment)) return null
    const base = toShortRef(buildCampaignRefs(spec.branches.prefix, campaign.name).optimize)
    const texts = { title, body: owned ? body : renderPushedBranchBody(experiment) }
    return { pull: null, open: { branch: experiment.branch ?? '', base, ...texts, draft: true }, check }
  }
  if (pull.state !== 'open') return null
  if (owned) {
    const ready = status === 'landing' ? { draft: false as const } : {}
    return { pull, title, body, ...ready, comments: renderOwnApproval(world, experiment, pull), check }
  }
  if (!canComment(world)) return campaign.status === 'running' ? { pull, check } : null
  // No person has to act: the next comment says that it is merged.
  if (status === 'landing' && spec.merge.auto) return null
  // winnow never edits another person's text and comments instead.
  return { pull, comments: [{ marker: VERDICT, body }], check }
}

/** Offers winnow's own experiments, and a pushed branch that needs a place for its approval. */
function isOffered(
  { spec, campaign, branches }: World,
  { owned, status, pull, branch }: Experiment,
): boolean {
  if (branch === null || !branches.has(branch)) return false
  if (owned) return true
  const { experiments } = buildCampaignRefs(spec.branches.prefix, campaign.name)
  return pull === null && branch.startsWith(toShortRef(experiments)) && status === 'deferred'
}

/** Before the campaign has a pull request. GitHub sends no mail for an edited text. */
function renderOwnApproval(world: World, experiment: Experiment, pull: PullFacts): DesiredComment[] {
  const isAsked = experiment.status === 'deferred' && canComment(world)
  const marker = getApprovalMarker(experiment)
  const isHere = getComment(pull, marker) !== null || world.campaignPull?.state !== 'open'
  return isAsked && isHere ? [{ marker, body: renderApprovalComment(experiment, true) }] : []
}

function getApprovalMarker({ id }: Experiment): string {
  return `approval ${id}`
}

function renderEndedPull(
  context: DesiredContext,
  experiment: Experiment,
  pull: PullFacts | undefined,
): DesiredPull | null {
  const { world, page } = context
  const { owned, branch } = experiment
  if (pull === undefined) return null
  const check = buildCheckRun(world.campaign, experiment, page)
  if (pull.state === 'open' && !isLandedExperiment(experiment))
    return renderClosing(context, experiment, pull)
  const text = renderEnd(context, experiment)
  if (owned) {
    const isHere = branch !== null && world.branches.has(branch)
    return isHere && isPullOver(experiment, pull) ? { pull, ...text, check } : null
  }
  const isLanded = isLandedExperiment(experiment)
  if (!isLanded && pull.state !== 'closed') return null
  // After a person closed it, winnow says so only where it commented before.
  const { ownComments } = pull
  const isExpected = ownComments !== undefined && (isLanded || ownComments.length > 0)
  if (canComment(world) && isExpected) return { pull, ...text, check }
  return pull.state === 'open' ? { pull, check } : null
}

function renderEnd({ world, page }: DesiredContext, experiment: Experiment): Partial<DesiredPull> {
  const { campaign, spec } = world
  const settings = { page, approvers: spec.dependencies.approvers }
  if (experiment.owned) return { body: renderPullBody(campaign, experiment, settings) }
  if (!canComment(world)) return {}
  return { comments: [{ marker: VERDICT, body: renderEndedComment(campaign, experiment, page) }] }
}

/** If a person reopens it unchanged, one comment says why it is closed again. */
function renderClosing(context: DesiredContext, experiment: Experiment, pull: PullFacts): DesiredPull | null {
  const { campaign } = context.world
  if (!experiment.owned && pull.head !== experiment.head) return null
  const check = buildCheckRun(campaign, experiment, context.page)
  const text = renderEnd(context, experiment)
  if (!isOpenedAgain(pull, text)) return { pull, ...text, closed: true, check }
  const marker = `again ${experiment.id} ${pull.head}`
  if (getComment(pull, marker) !== null) return null
  // Answers even with `report.comment: never`, because reopening the pull request asks for an answer.
  const body = renderReopenedComment(campaign, experiment, context.page)
  return { pull, comments: [{ marker, body }], closed: true }
}

/** An earlier experiment may have closed the same pull request; this one's text shows that it closed it too. */
function isOpenedAgain(pull: PullFacts, { body, comments = [] }: Partial<DesiredPull>): boolean {
  if (pull.reopened !== true) return false
  if (body !== undefined) return isSameText(pull.body, body)
  return comments.every(each => isSameText(getComment(pull, each.marker) ?? '', each.body))
}

// Picks

/** A pick targets the default branch, for a person to merge. It stays a draft until it is measured. */
function renderPickPull(
  { world, page }: DesiredContext,
  pick: PickedChange,
  pull: PullFacts | undefined,
): DesiredPull | null {
  const { campaign, branches } = world
  const { branch, head, closed, pick_end, status } = pick
  // A person has taken this branch over: winnow does not touch it again.
  if (pick_end === 'left') return null
  const texts = { title: renderPullTitle(pick), body: renderPickBody(campaign, pick, page) }
  const check = buildCheckRun(campaign, pick, page)
  if (pull === undefined) {
    if (closed || branch === null || branches.get(branch) !== head) return null
    const draft = status !== 'ended'
    return { pull: null, open: { branch, base: toShortRef(campaign.default_branch), ...texts, draft }, check }
  }
  if (pull.state !== 'open') return null
  if (closed) return { pull, body: texts.body, closed: true, check }
  return { pull, ...texts, ...(status === 'ended' ? { draft: false as const } : {}), check }
}

// The campaign's own pull request

/** Opened with the first kept change, so that it is never empty, and ready after the stop. */
function renderCampaignPull({ world, page }: DesiredContext): DesiredPull[] {
  const { campaign, campaignPull: pull, spec } = world
  if (pull === undefined) return []
  const isStopped = campaign.status === 'stopped'
  const isOpen = pull?.state === 'open'
  const state = { merged: pull !== null && !isOpen, pulls: collectPullNumbers(world) }
  const title = renderCampaignPullTitle(campaign)
  if (pull !== null && (isOpen || isItsMerge(campaign, pull))) {
    const body = renderCampaignPullBody(campaign, page, state)
    const isCounting = campaign.status === 'running' && campaign.round?.open === true
    const loose = isCounting ? { looseLine: COUNTS_LINE } : {}
    const ready = isOpen && isStopped ? { draft: false as const } : {}
    const comments = isOpen ? renderApprovalRequests(world, pull) : []
    return [{ pull, title, body, ...loose, ...ready, comments }]
  }
  if (!isPullDue(world, pull)) return []
  const branch = toShortRef(buildCampaignRefs(spec.branches.prefix, campaign.name).campaign)
  const body = renderCampaignPullBody(campaign, page, { ...state, merged: false })
  const base = toShortRef(campaign.default_branch)
  return [{ pull: null, open: { branch, base, title, body, draft: !isStopped } }]
}

/** Merged with all that the campaign has: its text no longer asks for the merge. */
function isItsMerge(campaign: Campaign, pull: CampaignPullFacts): boolean {
  if (pull.state !== 'merged' || campaign.status !== 'stopped') return false
  return pull.head === campaign.incumbent.commit || Object.hasOwn(campaign.handled, formatPullCause(pull))
}

/** The text names these pull requests, and the ledger has their numbers only once they have ended. */
function collectPullNumbers(world: World): Record<string, number> {
  const findPull = createPullFinder(world)
  const named = [...Object.values(world.campaign.picks), ...listDeferred(world)]
  return Object.fromEntries(
    named.flatMap(each => {
      const number = each.pull === null ? findPull(each)?.number : undefined
      return number === undefined ? [] : [[each.id, number]]
    }),
  )
}

/** An experiment that asked on its own pull request before does not ask here as well. */
function renderApprovalRequests(world: World, pull: PullFacts): DesiredComment[] {
  if (!canComment(world)) return []
  const findPull = createPullFinder(world)
  return listDeferred(world).flatMap(experiment => {
    const marker = getApprovalMarker(experiment)
    const own = experiment.owned ? findPull(experiment) : undefined
    const isThere = own !== undefined && getComment(own, marker) !== null
    if (isThere && getComment(pull, marker) === null) return []
    return [{ marker, body: renderApprovalComment(experiment) }]
  })
}

function listDeferred({ campaign }: World): Experiment[] {
  return listExperiments(campaign).filter(({ status }) => status === 'deferred')
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
function isPullReopened({ status, handled }: Campaign, pull: CampaignPullFacts): boolean {
  return pull.state === 'closed' && status === 'running' && Object.hasOwn(handled, formatPullCause(pull))
}

// Pull requests that are no experiments yet

/** A campaign that opens no experiments says so on new pull requests, and that it measures them once it goes on. */
function renderUnopenedPulls({ world, obstacle }: DesiredContext): DesiredPull[] {
  const { campaign, pulls } = world
  if (!canComment(world) || (campaign.status === 'running' && obstacle === null)) return []
  const open = new Map(pulls.filter(({ state }) => state === 'open').map(pull => [pull.number, pull]))
  return listNewProposals(world).flatMap(({ pull: number, head }) => {
    const pull = number === null ? undefined : open.get(number)
    if (pull === undefined || 'rejected' in head) return []
    const unopened = { number: pull.number, head: head.commit, obstacle }
    const body = renderPausedComment(campaign, unopened)
    return [{ pull, comments: [{ marker: VERDICT, body }], check: buildPausedCheck(campaign, unopened) }]
  })
}

export interface DesiredComment {
  /** Names the comment's kind and subject: winnow finds its comment again by this. */
  marker: string
  body: string
}

/** The desired state of one pull request. winnow leaves absent fields as they are. */
export interface DesiredPull {
  pull: PullFacts | null
  open?: NewPull
  title?: string
  body?: string
  /** A line of the body whose change alone is not worth an edit. */
  looseLine?: number
  /** GitHub cannot merge a draft. winnow never turns a pull request into one: some repositories have none. */
  draft?: false
  /** Posted once and edited in place; winnow deletes none. */
  comments?: readonly DesiredComment[]
  closed?: true
  check?: Check | null
}

/** The check comes first, because the texts mention it. */
export interface PullDifference {
  check: Check | null
  changes: ForgeChange[]
}

export type WrittenChecks = ReadonlyMap<string, string>

export function comparePulls(desired: readonly DesiredPull[], written: WrittenChecks): PullDifference[] {
  return desired.flatMap(each => {
    const changes = listPullChanges(each)
    const check = selectCheck(each, changes.length > 0, written)
    return changes.length === 0 && check === null ? [] : [{ check, changes }]
  })
}

function listPullChanges({ pull, open, ...desired }: DesiredPull): ForgeChange[] {
  if (pull === null) return open === undefined ? [] : [{ kind: 'open', ...open }]
  const { number } = pull
  const { title, body, looseLine, draft, comments = [], closed } = desired
  const edit = {
    ...(title === undefined || title === pull.title ? {} : { title }),
    ...(body === undefined || isSameText(pull.body, body, looseLine) ? {} : { body }),
    ...(draft === false && pull.draft === true ? { draft } : {}),
  }
  const stale = comments.filter(each => !isSameText(getComment(pull, each.marker) ?? '', each.body))
  return [
    ...(Object.keys(edit).length === 0 ? [] : [{ kind: 'update', number, ...edit } as const]),
    ...stale.map(each => ({ kind: 'comment', number, ...each }) as const),
    ...(closed && pull.state === 'open' ? [{ kind: 'close', number } as const] : []),
  ]
}

/** Reading checks costs a request a head. A check is written before its text, so a current text proves it. */
function selectCheck(
  { check = null, body, comments = [] }: DesiredPull,
  isTextStale: boolean,
  written: WrittenChecks,
): Check | null {
  if (check === null) return null
  const before = written.get(check.id)
  if (before !== undefined) return before === formatCheckContent(check) ? null : check
  const hasText = body !== undefined || comments.length > 0
  if (isTextStale) return check
  return hasText ? null : { ...check, again: true }
}

export function formatCheckContent(check: Check): string {
  const { name, head, state, title, summary, annotations = [] } = check
  return JSON.stringify([name, head, state, title, summary, annotations])
}

export function getComment({ ownComments = [] }: PullFacts, marker: string): string | null {
  const key = computeMarkerKey(marker)
  return ownComments.find(each => each.key === key)?.body ?? null
}

/** GitHub normalises line ends and trims texts. winnow cuts long ones before it writes them. */
export function isSameText(actual: string, desired: string, looseLine?: number): boolean {
  const lines = (text: string) =>
    text
      .replaceAll('\r\n', '\n')
      .trim()
      .split('\n')
      .filter((_, index) => index !== looseLine)
      .join('\n')
  return lines(actual) === lines(truncateBody(desired))
}
