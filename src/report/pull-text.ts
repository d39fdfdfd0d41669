import type { Approvers } from '../forge/may-approve.ts'
import { awaitedText } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { againMark } from '../model/check-mark.ts'
import type { Oid } from '../model/ids.ts'
import { AWAITS_MERGE, oneLine } from '../model/landing.ts'
import { isLanded } from '../model/outcome.ts'
import { isDeniedOutsider } from '../plan/unisolated.ts'
import { awaitsPermission, permissionText } from '../model/permission.ts'
import { resumesByItself } from '../model/resumes-by-itself.ts'
import { standsStill } from '../model/standstill.ts'
import { unlinked } from '../model/unlinked.ts'
import { requestMarkdown } from './approval-text.ts'
import { describeStatus } from '../model/describe-status.ts'
import { cell } from './markdown.ts'
import type { Page } from './page-links.ts'
import { syncMarkdown, syncWordsOf } from './sync-text.ts'
import { verdictMarkdown } from './verdict-markdown.ts'

const REASON = 600

/** The title of a pull request of winnow's own: the idea. */
export function pullTitle({ hypothesis }: Experiment): string {
  return unlinked(oneLine(hypothesis, 120))
}

export interface PullSettings {
  page?: Page
  approvers?: Approvers | undefined
}

/** How an experiment stands, for its own pull request and for the one comment on somebody else's. */
export function pullBody(campaign: Campaign, experiment: Experiment, settings: PullSettings = {}): string {
  const { page = null, approvers = 'write' } = settings
  const { id, category, learnings } = experiment
  const lines = [standingMarkdown(campaign, experiment, page), ...requestMarkdown(experiment, approvers)]
  if (learnings) lines.push('', `What was learned: ${cell(learnings)}`)
  lines.push(
    '',
    `${id} of campaign ${cell(campaign.name)}, category ${cell(category)}: ${cell(experiment.hypothesis)}`,
  )
  return `${lines.join('\n')}\n`
}

function standingMarkdown(campaign: Campaign, experiment: Experiment, page: Page): string {
  const { status, verdict } = experiment
  const { name } = campaign
  if (verdict !== null) {
    const said = verdictMarkdown(campaign, experiment, page)
    if (status === 'landing') return `${said}\n\n${AWAITS_MERGE}`
    return status === 'parked' ? `${said}\n\n${retryText(experiment)}` : said
  }
  if (status === 'deferred') return `**Waiting for approval of ${cell(awaitedText(experiment))}.**`
  if (awaitsPermission(experiment))
    return `**Waiting for permission.** Its author has no write access to this repository. To have it measured, read the change, then comment \`${permissionText(experiment)}\` (people with write access only).`
  const words = syncWordsOf(campaign, experiment)
  if (words !== null) return syncMarkdown(words)
  if (standsStill(campaign, experiment))
    return `**Waiting:** campaign ${cell(name)} is ${cell(describeStatus(campaign), REASON)}. It goes on by itself when the campaign does.`
  return `**Being measured** in campaign ${cell(name)}, against what the campaign has kept so far.`
}

function retryText(experiment: Experiment): string {
  return resumesByItself(experiment)
    ? 'It is measured further once nothing else is queued. `/winnow retry` measures it now.'
    : '`/winnow retry` measures more.'
}

const TRY_AGAIN =
  'To try again, push a new commit and reopen this pull request. It will be measured as a new experiment.'

/** The last comment on somebody else's pull request: the outcome, and how to go on there. */
export function endedText(campaign: Campaign, experiment: Experiment, page: Page = null): string {
  const said = verdictMarkdown(campaign, experiment, page)
  const { outcome } = experiment
  const isOver = (outcome !== null && isLanded(outcome)) || isDeniedOutsider(experiment)
  return isOver ? said : `${said}\n\n${TRY_AGAIN}`
}

/** For a person who reopened an ended pull request without a new commit. */
export function againText(
  campaign: Campaign,
  experiment: Experiment,
  { head, page = null }: { head: Oid; page?: Page },
): string {
  const { id, owned, outcome, measured_tree } = experiment
  const why = owned
    ? `this branch belongs to ${id}, which has ended`
    : `${id} has ended with exactly this commit`
  const empty = outcome === 'withdrawn' && measured_tree === null ? ' (an empty one will do)' : ''
  const next = owned
    ? 'To try something else, open a pull request from a branch of your own.'
    : `To try again, push a new commit${empty} and reopen this pull request. It will be measured as a new experiment.`
  const said = verdictMarkdown(campaign, experiment, page)
  return `${againMark(experiment, head)}\nClosed again: ${why}. ${next} winnow does not close it a second time.\n\n${said}\n`
}

/** The body of a pull request that is opened only so that the packages of a pushed branch can be approved. */
export function pushedBody({ id, branch }: Experiment): string {
  return `The branch ${cell(branch ?? '')} (${id}) was pushed without a pull request. It adds packages that a person has to approve; this pull request is the place for that. How it stands is in the comment below.\n`
}
