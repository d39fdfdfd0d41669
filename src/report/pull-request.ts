import { type Approvers, describeAwaitedPackages } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import {
  type Experiment,
  isAwaitingPermission,
  isPausedExperiment,
  isResumedAutomatically,
  isUndecided,
  type PickedChange,
} from '../model/experiment.ts'
import { toShortRef } from '../model/ids.ts'
import { AWAITING_MERGE_TEXT } from '../model/landing.ts'
import { neutralizeMentions, toOneLine } from '../model/text.ts'
import { isLanded } from '../model/verdict.ts'
import { isDeniedOutsider } from '../plan/permissions.ts'
import { getCampaignSpec } from '../spec/load.ts'
import { renderApprovalHeadline, renderApprovalMarkdown } from './approval.ts'
import { describeMeasuring, getExperimentState, renderPermissionRequest } from './experiment-state.ts'
import type { PageUrl } from './github-names.ts'
import { escapeMarkdown } from './markdown.ts'
import { suggestQuieterMetric } from './metrics.ts'
import { renderVerdict } from './verdict-markdown.ts'
import {
  findSyncWords,
  renderPausedSentence,
  renderStateSentence,
  renderSyncMarkdown,
} from './verdict-text.ts'

// Experiments

export function renderPullTitle({ hypothesis }: Experiment): string {
  return neutralizeMentions(toOneLine(hypothesis, 120))
}

interface PullSettings {
  page?: PageUrl
  approvers?: Approvers | undefined
}

export function renderPullBody(
  campaign: Campaign,
  experiment: Experiment,
  settings: PullSettings = {},
): string {
  const { page = null, approvers = 'write' } = settings
  const { category, learnings } = experiment
  const lines = [
    renderPullState(campaign, experiment, page),
    ...renderApprovalMarkdown(experiment, approvers),
  ]
  if (learnings) lines.push('', `What was learned: ${escapeMarkdown(learnings)}`)
  const words = `category ${escapeMarkdown(category)}: ${escapeMarkdown(experiment.hypothesis)}`
  lines.push('', `${describeSource(campaign, experiment)}, ${words}`)
  return `${lines.join('\n')}\n`
}

function renderPullState(campaign: Campaign, experiment: Experiment, page: PageUrl): string {
  const { status, verdict } = experiment
  const { name } = campaign
  if (status === 'deferred') return renderApprovalHeadline(experiment)
  if (isAwaitingPermission(experiment)) return renderPermissionRequest(experiment)
  const words = findSyncWords(campaign, experiment)
  if (words !== null) return renderSyncMarkdown(words)
  const result = verdict === null ? null : renderVerdict(campaign, experiment, page)
  if (result === null || isUndecided(experiment)) {
    const waiting = isPausedExperiment(campaign, experiment)
      ? `**Waiting:** ${renderPausedSentence(campaign)}`
      : `**${describeMeasuring(experiment)}** in campaign ${escapeMarkdown(name)}, against what the campaign has kept so far.`
    return withEarlierResult(waiting, result)
  }
  if (status === 'landing') return `${result}\n\n${AWAITING_MERGE_TEXT}`
  return status === 'not-proven' ? `${result}\n\n${describeRetry(campaign, experiment)}` : result
}

function withEarlierResult(waiting: string, result: string | null): string {
  return result === null ? waiting : `${waiting}\n\nThe result so far:\n\n${result}`
}

function describeRetry(campaign: Campaign, experiment: Experiment): string {
  const quieter = suggestQuieterMetric(campaign.calibration, getCampaignSpec(campaign))
  const retry = isResumedAutomatically(experiment)
    ? 'It is measured further once nothing else is queued. `/winnow retry` measures it now.'
    : '`/winnow retry` measures more.'
  return quieter === null ? retry : `${retry}\n\n${escapeMarkdown(quieter)}`
}

function describeTryAgain(commit = 'a new commit'): string {
  return `To try again, push ${commit} and reopen this pull request. It will be measured as a new experiment.`
}

/** For a contributor: the outcome and the next steps. */
export function renderEndedComment(campaign: Campaign, experiment: Experiment, page: PageUrl = null): string {
  const verdict = renderVerdict(campaign, experiment, page)
  const { outcome } = experiment
  const isOver = (outcome !== null && isLanded(outcome)) || isDeniedOutsider(experiment)
  const next = isOver ? [] : [describeTryAgain()]
  return [verdict, ...next, `${describeSource(campaign, experiment)}.`].join('\n\n')
}

/** Names the measured commit, so that a text about another head is another text. */
function describeSource({ name }: Pick<Campaign, 'name'>, { id, head, owned }: Experiment): string {
  const commit = head === null || owned ? '' : `, commit \`${head.slice(0, HASH_LENGTH)}\``
  return `${id} of campaign ${escapeMarkdown(name)}${commit}`
}

/** For a contributor who reopened an ended pull request without a new commit. */
export function renderReopenedComment(
  campaign: Campaign,
  experiment: Experiment,
  page: PageUrl = null,
): string {
  const { id, owned, outcome, measured_tree } = experiment
  const why = owned
    ? `this branch belongs to ${id}, which has ended`
    : `${id} has ended with exactly this commit`
  const isEmptyEnough = outcome === 'withdrawn' && measured_tree === null
  const next = owned
    ? 'To try something else, open a pull request from a branch of your own.'
    : describeTryAgain(isEmptyEnough ? 'a new commit (an empty one will do)' : 'a new commit')
  const verdict = renderVerdict(campaign, experiment, page)
  return `Closed again: ${why}. ${next} winnow does not close it a second time.\n\n${verdict}\n`
}

/** This pull request is opened only so that a person can review a pushed branch. */
export function renderPushedBranchBody(experiment: Experiment): string {
  const { id, branch } = experiment
  const what = escapeMarkdown(describeAwaitedPackages(experiment))
  return `The branch ${escapeMarkdown(branch ?? '')} (${id}) was pushed without a pull request, and waits for approval of ${what}. Review and approve it here. The comment below has its state.\n`
}

// Picks

const HASH_LENGTH = 10

export function renderPickBody(campaign: Campaign, pick: PickedChange, page: PageUrl): string {
  const { name } = campaign
  const taken = campaign.experiments[pick.picks]
  const number = taken?.pull == null ? '' : ` (#${taken.pull})`
  const lines = [
    renderPickState(campaign, pick, page),
    ...renderApprovalMarkdown(pick),
    '',
    `One change of campaign ${escapeMarkdown(name)} on its own: ${escapeMarkdown(pick.hypothesis)}.`,
    `In the campaign it was ${pick.picks}${number}: ${escapeMarkdown(describeKeptChange(campaign, pick))}.`,
    `Here it is ${pick.id}, ${describePickBase(campaign, pick)}.`,
    '',
    ...renderPickInstructions(campaign, pick),
  ]
  return `${lines.join('\n')}\n`
}

function renderPickState(campaign: Campaign, pick: PickedChange, page: PageUrl): string {
  if (pick.status === 'deferred') return renderApprovalHeadline(pick)
  const result = pick.verdict === null && !pick.closed ? null : renderVerdict(campaign, pick, page)
  if (result !== null && !isUndecided(pick)) return `${result}${describePickEnd(campaign, pick)}`
  const waiting = `**${describeMeasuring(pick)}** on its own, in campaign ${escapeMarkdown(campaign.name)}.`
  return withEarlierResult(waiting, result)
}

function describePickEnd({ default_branch }: Campaign, { pick_end }: PickedChange): string {
  const texts = {
    merged: `\n\nIt is on ${escapeMarkdown(toShortRef(default_branch))} now.`,
    declined: '\n\nA person closed it.',
    replaced: '\n\nA newer pull request replaces it.',
    left: '',
  }
  return pick_end === null ? '' : texts[pick_end]
}

function describeKeptChange(campaign: Campaign, { picks }: PickedChange): string {
  const taken = campaign.experiments[picks]
  if (taken === undefined) return ''
  const sentence = renderStateSentence(getExperimentState(campaign, taken)).replace(/^Kept: /, '')
  return toOneLine(sentence.replace(/\.$/, '').replaceAll(' -> ', ' → '), 300)
}

function describePickBase(campaign: Campaign, { base, status }: PickedChange): string {
  const where = `${escapeMarkdown(toShortRef(campaign.default_branch))} at \`${base.slice(0, HASH_LENGTH)}\``
  return `${status === 'ended' ? 'one commit on' : 'to be compared with'} ${where}`
}

export function isBehind({ default_tip }: Campaign, { base }: PickedChange): boolean {
  return base !== default_tip
}

function renderPickInstructions(campaign: Campaign, pick: PickedChange): string[] {
  if (pick.closed) return []
  const into = escapeMarkdown(toShortRef(campaign.default_branch))
  const outdated = `${into} has moved since this was measured. \`/winnow pick ${pick.picks}\` measures it again on what is there now.`
  return [
    ...(isBehind(campaign, pick) ? [outdated] : []),
    `Merge this pull request to take the change into ${into}. The campaign keeps the change too, and counts it only once. Close this pull request to leave the change only in the campaign. If you push to its branch, winnow no longer updates it.`,
  ]
}

/** Example: `exp-012 takes exp-007 alone: …`. */
export function renderPickLine(campaign: Campaign, pick: PickedChange): string {
  const { id, picks, pick_end } = pick
  const into = toShortRef(campaign.default_branch)
  const then = pick_end === 'merged' ? ` It is on ${into}.` : pick_end === 'declined' ? ' It was closed.' : ''
  return `${id} takes ${picks} alone: ${renderStateSentence(getExperimentState(campaign, pick))}${then}`
}
