import type { Campaign } from '../model/campaign.ts'
import type { Picked } from '../model/experiment.ts'
import { isBehind, pickMark } from '../model/pick-mark.ts'
import { shortRef } from '../model/refs.ts'
import { awaitedText } from '../model/approval.ts'
import { oneLine } from '../model/landing.ts'
import { requestMarkdown } from './approval-text.ts'
import { cell } from './markdown.ts'
import type { Page } from './page-links.ts'
import { standingSentence } from './sentence.ts'
import { standingIn } from './standing.ts'
import { verdictMarkdown } from './verdict-markdown.ts'

const SHOWN = 10

/** The pull request of one change alone: what it does on the default branch, and which kept change it is. */
export function pickBody(campaign: Campaign, pick: Picked, page: Page): string {
  const { name } = campaign
  const taken = campaign.experiments[pick.picks]
  const number = taken?.pull == null ? '' : ` (#${taken.pull})`
  const lines = [
    // First: whatever of it is cut off, that is not.
    pickMark(campaign, pick),
    standingMarkdown(campaign, pick, page),
    ...requestMarkdown(pick),
    '',
    `One change of campaign ${cell(name)} on its own: ${cell(pick.hypothesis)}.`,
    `In the campaign it was ${pick.picks}${number}: ${cell(keptText(campaign, pick))}.`,
    `Here it is ${pick.id}, ${whereText(campaign, pick)}.`,
    '',
    ...howLines(campaign, pick),
  ]
  return `${lines.join('\n')}\n`
}

function standingMarkdown(campaign: Campaign, pick: Picked, page: Page): string {
  if (pick.verdict !== null || pick.closed)
    return `${verdictMarkdown(campaign, pick, page)}${fateText(campaign, pick)}`
  if (pick.status === 'deferred') return `**Waiting for approval of ${cell(awaitedText(pick))}.**`
  return `**Being measured** on its own, in campaign ${cell(campaign.name)}.`
}

/** What became of it, besides what was measured. */
function fateText({ default_branch }: Pick<Campaign, 'default_branch'>, { fate }: Picked): string {
  const into = cell(shortRef(default_branch))
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

function keptText(campaign: Campaign, { picks }: Picked): string {
  const taken = campaign.experiments[picks]
  if (taken === undefined) return ''
  const said = standingSentence(standingIn(campaign, taken)).replace(/^Kept: /, '')
  return oneLine(said.replace(/\.$/, '').replaceAll(' -> ', ' → '), 300)
}

function whereText(campaign: Campaign, { base, status }: Picked): string {
  const where = `${cell(shortRef(campaign.default_branch))} at \`${base.slice(0, SHOWN)}\``
  return `${status === 'ended' ? 'one commit on' : 'to be compared with'} ${where}`
}

function howLines(campaign: Campaign, pick: Picked): string[] {
  if (pick.closed) return []
  const into = cell(shortRef(campaign.default_branch))
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
export function pickLine(campaign: Campaign, pick: Picked): string {
  const { id, picks, fate } = pick
  const into = shortRef(campaign.default_branch)
  const then = fate === 'merged' ? ` It is on ${into}.` : fate === 'declined' ? ' It was closed.' : ''
  return `${id} takes ${picks} alone: ${standingSentence(standingIn(campaign, pick))}${then}`
}
