import type { Campaign } from '../model/campaign.ts'
import type { PickedChange } from '../model/experiment.ts'
import { isBehind, buildPickMark } from '../model/pick-mark.ts'
import { toShortRef } from '../model/refs.ts'
import { describeAwaitedPackages } from '../model/approval.ts'
import { toOneLine } from '../model/landing.ts'
import { renderApprovalMarkdown } from './approval-text.ts'
import { escapeMarkdown } from './markdown.ts'
import type { PageUrl } from './page-links.ts'
import { renderStateSentence } from './sentence.ts'
import { getExperimentState } from './standing.ts'
import { renderVerdict } from './verdict-markdown.ts'

const SHOWN = 10

/** The pull request of one change alone: what it does on the default branch, and which kept change it is. */
export function renderPickBody(campaign: Campaign, pick: PickedChange, page: PageUrl): string {
  const { name } = campaign
  const taken = campaign.experiments[pick.picks]
  const number = taken?.pull == null ? '' : ` (#${taken.pull})`
  const lines = [
    // First: whatever of it is cut off, that is not.
    buildPickMark(campaign, pick),
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
  if (pick.verdict !== null || pick.closed)
    return `${renderVerdict(campaign, pick, page)}${describeFate(campaign, pick)}`
  if (pick.status === 'deferred')
    return `**Waiting for approval of ${escapeMarkdown(describeAwaitedPackages(pick))}.**`
  return `**Being measured** on its own, in campaign ${escapeMarkdown(campaign.name)}.`
}

/** What became of it, besides what was measured. */
function describeFate({ default_branch }: Pick<Campaign, 'default_branch'>, { fate }: PickedChange): string {
  const into = escapeMarkdown(toShortRef(default_branch))
  switch (fate) {
    case 'merged':
      return `\n\nIt is on ${into} now.`
    case 'declined':
      return '\n\nA person closed it.'
    case 'replaced':
      return '\n\nA newer pull request replaces it.'
    case 'left':
    case null:
      return ''
    default:
      return fate satisfies never
  }
}

function describeKeptChange(campaign: Campaign, { picks }: PickedChange): string {
  const taken = campaign.experiments[picks]
  if (taken === undefined) return ''
  const said = renderStateSentence(getExperimentState(campaign, taken)).replace(/^Kept: /, '')
  return toOneLine(said.replace(/\.$/, '').replaceAll(' -> ', ' → '), 300)
}

function describePickBase(campaign: Campaign, { base, status }: PickedChange): string {
  const where = `${escapeMarkdown(toShortRef(campaign.default_branch))} at \`${base.slice(0, SHOWN)}\``
  return `${status === 'ended' ? 'one commit on' : 'to be compared with'} ${where}`
}

function renderPickInstructions(campaign: Campaign, pick: PickedChange): string[] {
  if (pick.closed) return []
  const into = escapeMarkdown(toShortRef(campaign.default_branch))
  const behind = isBehind(campaign, pick)
    ? [
        `${into} has moved since this was measured. \`/winnow pick ${pick.picks}\` measures it again on what is there now.`,
      ]
    : []
  return [
    ...behind,
    `Merge it to have the change on ${into}; the campaign goes on with it and counts it once. Close it to leave the change in the campaign alone. After a push to its branch winnow leaves the branch to you.`,
  ]
}

/** One line for a list: `exp-012 takes exp-007 alone: …`. */
export function renderPickLine(campaign: Campaign, pick: PickedChange): string {
  const { id, picks, fate } = pick
  const into = toShortRef(campaign.default_branch)
  const then = fate === 'merged' ? ` It is on ${into}.` : fate === 'declined' ? ' It was closed.' : ''
  return `${id} takes ${picks} alone: ${renderStateSentence(getExperimentState(campaign, pick))}${then}`
}
