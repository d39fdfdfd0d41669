import type { Approvers } from '../forge/may-approve.ts'
import { describeAwaitedPackages } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { buildReopenedMark } from '../model/check-mark.ts'
import type { Oid } from '../model/ids.ts'
import { AWAITING_MERGE_TEXT, toOneLine } from '../model/landing.ts'
import { isLanded } from '../model/outcome.ts'
import { isDeniedOutsider } from '../plan/unisolated.ts'
import { isAwaitingPermission, formatPermissionCommand } from '../model/permission.ts'
import { isResumedAutomatically } from '../model/resumes-by-itself.ts'
import { isPausedExperiment } from '../model/standstill.ts'
import { neutralizeMentions } from '../model/unlinked.ts'
import { renderApprovalMarkdown } from './approval-text.ts'
import { describeStatus } from '../model/describe-status.ts'
import { escapeMarkdown } from './markdown.ts'
import type { PageUrl } from './page-links.ts'
import { renderSyncMarkdown, findSyncWords } from './sync-text.ts'
import { renderVerdict } from './verdict-markdown.ts'

const REASON = 600

/** The title of a pull request of winnow's own: the idea. */
export function renderPullTitle({ hypothesis }: Experiment): string {
  return neutralizeMentions(toOneLine(hypothesis, 120))
}

export interface PullSettings {
  page?: PageUrl
  approvers?: Approvers | undefined
}

/** How an experiment stands, for its own pull request and for the one comment on somebody else's. */
export function renderPullBody(
  campaign: Campaign,
  experiment: Experiment,
  settings: PullSettings = {},
): string {
  const { page = null, approvers = 'write' } = settings
  const { id, category, learnings } = experiment
  const lines = [
    renderPullState(campaign, experiment, page),
    ...renderApprovalMarkdown(experiment, approvers),
  ]
  if (learnings) lines.push('', `What was learned: ${escapeMarkdown(learnings)}`)
  lines.push(
    '',
    `${id} of campaign ${escapeMarkdown(campaign.name)}, category ${escapeMarkdown(category)}: ${escapeMarkdown(experiment.hypothesis)}`,
  )
  return `${lines.join('\n')}\n`
}

function renderPullState(campaign: Campaign, experiment: Experiment, page: PageUrl): string {
  const { status, verdict } = experiment
  const { name } = campaign
  if (verdict !== null) {
    const said = renderVerdict(campaign, experiment, page)
    if (status === 'landing') return `${said}\n\n${AWAITING_MERGE_TEXT}`
    return status === 'parked' ? `${said}\n\n${describeRetry(experiment)}` : said
  }
  if (status === 'deferred')
    return `**Waiting for approval of ${escapeMarkdown(describeAwaitedPackages(experiment))}.**`
  if (isAwaitingPermission(experiment))
    return `**Waiting for permission.** Its author has no write access to this repository. To have it measured, read the change, then comment \`${formatPermissionCommand(experiment)}\` (people with write access only).`
  const words = findSyncWords(campaign, experiment)
  if (words !== null) return renderSyncMarkdown(words)
  if (isPausedExperiment(campaign, experiment))
    return `**Waiting:** campaign ${escapeMarkdown(name)} is ${escapeMarkdown(describeStatus(campaign), REASON)}. It goes on by itself when the campaign does.`
  return `**Being measured** in campaign ${escapeMarkdown(name)}, against what the campaign has kept so far.`
}

function describeRetry(experiment: Experiment): string {
  return isResumedAutomatically(experiment)
    ? 'It is measured further once nothing else is queued. `/winnow retry` measures it now.'
    : '`/winnow retry` measures more.'
}

const TRY_AGAIN =
  'To try again, push a new commit and reopen this pull request. It will be measured as a new experiment.'

/** The last comment on somebody else's pull request: the outcome, and how to go on there. */
export function renderEndedComment(campaign: Campaign, experiment: Experiment, page: PageUrl = null): string {
  const said = renderVerdict(campaign, experiment, page)
  const { outcome } = experiment
  const isOver = (outcome !== null && isLanded(outcome)) || isDeniedOutsider(experiment)
  return isOver ? said : `${said}\n\n${TRY_AGAIN}`
}

/** For a person who reopened an ended pull request without a new commit. */
export function renderReopenedComment(
  campaign: Campaign,
  experiment: Experiment,
  { head, page = null }: { head: Oid; page?: PageUrl },
): string {
  const { id, owned, outcome, measured_tree } = experiment
  const why = owned
    ? `this branch belongs to ${id}, which has ended`
    : `${id} has ended with exactly this commit`
  const empty = outcome === 'withdrawn' && measured_tree === null ? ' (an empty one will do)' : ''
  const next = owned
    ? 'To try something else, open a pull request from a branch of your own.'
    : `To try again, push a new commit${empty} and reopen this pull request. It will be measured as a new experiment.`
  const said = renderVerdict(campaign, experiment, page)
  return `${buildReopenedMark(experiment, head)}\nClosed again: ${why}. ${next} winnow does not close it a second time.\n\n${said}\n`
}

/** The body of a pull request that is opened only so that the packages of a pushed branch can be approved. */
export function renderPushedBranchBody({ id, branch }: Experiment): string {
  return `The branch ${escapeMarkdown(branch ?? '')} (${id}) was pushed without a pull request. It adds packages that a person has to approve; this pull request is the place for that. How it stands is in the comment below.\n`
}
