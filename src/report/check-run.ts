import { describeAwaitedPackages } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import {
  type Experiment,
  isAwaitingPermission,
  isPausedExperiment,
  type UnopenedPull,
} from '../model/experiment.ts'
import type { Check } from '../model/github.ts'
import type { ExperimentId, Oid } from '../model/ids.ts'
import { describeStatus } from '../model/status.ts'
import { parseReason, toOneLine, toSentenceCase } from '../model/text.ts'
import type { VerdictWord } from '../model/verdict.ts'
import { getCampaignSpec } from '../spec/load.ts'
import { renderApprovalHeadline, renderFindingsMarkdown } from './approval.ts'
import { describeMeasuring, renderPermissionRequest } from './experiment-state.ts'
import type { PageUrl } from './github-names.ts'
import { escapeMarkdown } from './markdown.ts'
import { renderPlainVerdict, renderVerdict } from './verdict-markdown.ts'
import {
  AWAITS_SYNC,
  buildSyncWords,
  findSyncWords,
  renderPausedSentence,
  renderSyncMarkdown,
  renderSyncSentence,
} from './verdict-text.ts'

// Experiments

/** A loss is not an error, so only a head that must not be merged is red. */
const CONCLUSIONS: Record<VerdictWord, 'success' | 'neutral' | 'failure'> = {
  kept: 'success',
  'no gain': 'neutral',
  worse: 'neutral',
  'not proven': 'neutral',
  refused: 'failure',
  broken: 'failure',
}

const MAX_TITLE_LENGTH = 120

/** Returns null when the experiment has no head. */
export function buildCheckRun(
  campaign: Campaign,
  experiment: Experiment,
  page: PageUrl = null,
): Check | null {
  const { id, head } = experiment
  if (head === null) return null
  return { name: `winnow (${campaign.name})`, head, id, ...buildCheckState(campaign, experiment, page) }
}

export function buildReplacedCheck({ name }: Pick<Campaign, 'name'>, id: ExperimentId, head: Oid): Check {
  const title = 'Replaced by a newer commit'
  return { name: `winnow (${name})`, head, id, state: 'neutral', title, summary: `${id}: ${title}.` }
}

type CheckState = Pick<Check, 'state' | 'title' | 'summary' | 'annotations'>

function buildCheckState(campaign: Campaign, experiment: Experiment, page: PageUrl): CheckState {
  const { status, verdict, reason, refused_path: path, refused_line: line } = experiment
  if (status === 'deferred') {
    const what = `Waiting for approval of ${describeAwaitedPackages(experiment)}`
    const summary = [renderApprovalHeadline(experiment), ...renderFindingsMarkdown(experiment)].join('\n')
    return { state: 'neutral', title: toOneLine(what, MAX_TITLE_LENGTH), summary }
  }
  if (isAwaitingPermission(experiment)) {
    const title = 'Waiting for permission to be measured'
    return { state: 'neutral', title, summary: renderPermissionRequest(experiment) }
  }
  const words = findSyncWords(campaign, experiment)
  if (words !== null)
    return { state: 'neutral', title: `Waiting for ${AWAITS_SYNC}`, summary: renderSyncMarkdown(words) }
  if (verdict !== null && (status === 'ended' || status === 'not-proven' || status === 'landing')) {
    const { sentence } = parseReason(reason ?? '')
    const title = toOneLine(renderPlainVerdict(getCampaignSpec(campaign), experiment), MAX_TITLE_LENGTH)
    const summary = renderVerdict(campaign, experiment, page)
    const description = { state: CONCLUSIONS[verdict], title, summary }
    return path === null
      ? description
      : { ...description, annotations: [{ path, line: line ?? 1, message: toOneLine(sentence, 400) }] }
  }
  if (status === 'ended')
    return { state: 'neutral', title: 'Closed', summary: renderVerdict(campaign, experiment, page) }
  if (isPausedExperiment(campaign, experiment)) {
    const summary = toSentenceCase(renderPausedSentence(campaign))
    return { state: 'neutral', title: `Waiting: the campaign is ${campaign.status}`, summary }
  }
  const title = describeMeasuring(experiment)
  return {
    state: 'in-progress',
    title,
    summary: `${verdict === null ? 'Measuring' : title} in campaign ${escapeMarkdown(campaign.name)}: ${escapeMarkdown(experiment.hypothesis)}`,
  }
}

// New pull requests while paused

const MAX_STATUS_LENGTH = 600
const HEAD_LENGTH = 10

export function renderPausedComment(campaign: Campaign, unopened: UnopenedPull): string {
  const { head } = unopened
  return `${describePaused(campaign, unopened)}\n\nCommit \`${head.slice(0, HEAD_LENGTH)}\`.\n`
}

/** A completed check, so that the author does not wait for a check that never starts. */
export function buildPausedCheck(campaign: Campaign, unopened: UnopenedPull): Check {
  const { number, head } = unopened
  const [title, summary] = [selectPausedTitle(campaign, unopened), describePaused(campaign, unopened)]
  return { name: `winnow (${campaign.name})`, head, id: `pull-${number}`, state: 'neutral', title, summary }
}

function selectPausedTitle({ status }: Campaign, { obstacle }: UnopenedPull): string {
  if (obstacle !== null) return 'Waiting for the default branch to be merged in'
  return status === 'paused' ? 'Waiting: the campaign is paused' : 'The campaign has stopped'
}

const RESUME = 'A person with write access continues it with the comment `/winnow resume`.'

function describePaused(campaign: Campaign, { obstacle }: UnopenedPull): string {
  const { name, status } = campaign
  if (obstacle !== null)
    return `Campaign ${escapeMarkdown(name)} waits for a person: ${renderSyncSentence(buildSyncWords(campaign, obstacle))} After that this pull request is measured by itself.`
  const description = describeStatus(campaign)
  if (status === 'paused')
    return `Campaign ${escapeMarkdown(name)} is ${escapeMarkdown(description, MAX_STATUS_LENGTH)}. This pull request is measured once the campaign goes on. ${RESUME}`
  const stopped = description.startsWith('stopped by ') ? `was ${description}` : `has ${description}`
  return `Campaign ${escapeMarkdown(name)} ${escapeMarkdown(stopped, MAX_STATUS_LENGTH)}. This pull request is measured if the campaign goes on, or by the next campaign. ${RESUME}`
}
