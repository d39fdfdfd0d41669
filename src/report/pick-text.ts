import type { Campaign } from '../model/campaign.ts'
import type { Picked } from '../model/experiment.ts'
import { isBehind, pickMark } from '../model/pick-mark.ts'
import { shortRef } from '../model/refs.ts'
import { awaitedText } from '../model/approval.ts'
import { oneLine } from '../model/landing.ts'
import { requestMarkdown } from './approval-text.ts'
import { calibrationText } from './calibration-text.ts'
import { cell } from './markdown.ts'
import { closingText } from './pull-text.ts'
import { standingSentence } from './sentence.ts'
import { evidenceIn, standingIn } from './standing.ts'

const SHOWN = 10

/** The pull request of one change alone: what it does where it stands now, and what it was found in. */
export function pickBody(campaign: Campaign, pick: Picked): string {
  const { name } = campaign
  const taken = campaign.experiments[pick.picks]
  const number = taken?.pull == null ? '' : ` (#${taken.pull})`
  const lines = [
    // First: whatever of it is cut off, that is not.
    pickMark(campaign, pick),
    firstLine(campaign, pick),
    ...noiseLines(campaign, pick),
    '',
    `**Change**: ${cell(pick.hypothesis)}`,
    `**Taken from**: ${pick.picks}${number}, which campaign ${name} kept: ${cell(keptText(campaign, pick))}`,
    `**Measured as**: ${pick.id}, ${whereText(campaign, pick)}`,
    ...requestMarkdown(pick),
    '',
    ...howLines(campaign, pick),
  ]
  return `${lines.join('\n')}\n`
}

function firstLine(campaign: Campaign, pick: Picked): string {
  if (pick.verdict !== null || pick.closed) return `${closingText(pick)}${fateText(campaign, pick)}`
  if (pick.status === 'deferred') return `Waiting for approval of ${cell(awaitedText(pick))}.`
  return `Being measured alone, in campaign ${campaign.name}.`
}

/** What became of it, besides what was measured. */
function fateText({ default_branch }: Pick<Campaign, 'default_branch'>, { fate }: Picked): string {
  const into = cell(shortRef(default_branch))
  switch (fate) {
    case 'merged':
      return `\n\nIt is on ${into} now.`
    case 'declined':
      return '\n\nIt was closed, and not taken.'
    case 'replaced':
      return '\n\nIt gave way to a newer one.'
    case 'left':
    case null:
      return ''
    default:
      return fate satisfies never
  }
}

function noiseLines({ calibration }: Campaign, { reason }: Picked): string[] {
  const noise = reason?.includes('\nevidence ') === true ? calibrationText(calibration) : null
  return noise === null ? [] : ['', cell(noise)]
}

function keptText(campaign: Campaign, { picks }: Picked): string {
  const taken = campaign.experiments[picks]
  if (taken === undefined) return ''
  const said = standingSentence(standingIn(campaign, taken)).replace(/^Kept: /, '')
  return oneLine(evidenceIn(campaign, taken) === null ? said : `${said}, by its pairs`, 300)
}

function whereText(campaign: Campaign, { base, status }: Picked): string {
  const where = `${cell(shortRef(campaign.default_branch))} at \`${base.slice(0, SHOWN)}\``
  return `${status === 'ended' ? 'one commit on' : 'to be compared with'} ${where}, by the campaign's own rule`
}

function howLines(campaign: Campaign, pick: Picked): string[] {
  if (pick.closed) return []
  const into = cell(shortRef(campaign.default_branch))
  const behind = isBehind(campaign, pick)
    ? [
        `- ${into} has moved since it was measured; \`/winnow pick ${pick.picks}\` measures it anew on what is there now.`,
      ]
    : []
  return [
    ...behind,
    `- Merge it, and ${into} has it; the campaign goes on with it and counts it once. Close it, and nothing happens.`,
    '- Whoever pushes to its branch makes it theirs: winnow leaves it alone from then on.',
  ]
}

/** One line for a list: `exp-012 takes exp-007 alone: …`. */
export function pickLine(campaign: Campaign, pick: Picked): string {
  const { id, picks, fate } = pick
  const into = shortRef(campaign.default_branch)
  const then = fate === 'merged' ? ` It is on ${into}.` : fate === 'declined' ? ' It was closed.' : ''
  return `${id} takes ${picks} alone: ${standingSentence(standingIn(campaign, pick))}${then}`
}
