import type { Campaign } from '../model/campaign.ts'
import { oneLine } from '../model/landing.ts'
import { campaignRefs, shortRef } from '../model/refs.ts'
import { keptPackageLines } from './approval-text.ts'
import { type CampaignResult, campaignResult } from './campaign-result.ts'
import { costText } from './cost-text.ts'
import { short } from './event-line.ts'
import { clockText } from './live-text.ts'
import { experimentSentence } from './status-text.ts'
import { personalTaskLines } from './needs-a-person.ts'
import { table } from './table.ts'
import { verdictsText } from './tally.ts'
import { wayOnText } from './way-on.ts'

/** Where the person who reads it finds the result. */
export interface Whereabouts {
  prefix: string
  /** The remote's name in the person's repository; null where all is kept in that repository itself. */
  remote: string | null
  /** The optimize branch is not where the ledger says: it is no result to merge. */
  astray?: boolean
}

const LISTED = 5

/** The end of a run after its first sentences: what it came to, what waits for whom, what it cost, what to type next. */
export function finalSummary(campaign: Campaign, where: Whereabouts): string[] {
  const result = campaignResult(campaign)
  const rows = [
    ...labelled('verdicts', verdictsText(campaign)),
    ...labelled('kept', ...listed(result.improvements.map(({ id }) => keptText(campaign, id)))),
    ...labelled('packages', ...listed(keptPackageLines(campaign))),
    ...labelled('waiting', ...listed(personalTaskLines(campaign))),
    ...labelled('took', tookText(campaign, result)),
    ...labelled('to go on', wayOnText(campaign) ?? ''),
    ...labelled('next', ...nextTexts(campaign, result, where)),
  ]
  return ['', ...table(rows)]
}

function labelled(label: string, ...lines: readonly string[]): string[][] {
  return lines.filter(line => line !== '').map((line, index) => [index === 0 ? `  ${label}` : '', line])
}

function listed(lines: readonly string[]): string[] {
  const more = lines.length - LISTED
  return more > 0 ? [...lines.slice(0, LISTED), `and ${more} more`] : [...lines]
}

function keptText(campaign: Campaign, id: string): string {
  const experiment = campaign.experiments[id]
  if (experiment === undefined) return ''
  const said = oneLine(experimentSentence(campaign, experiment), 160).replace(/^Kept: /, '')
  return `${id}  ${said} (${oneLine(experiment.hypothesis, 80)})`
}

function tookText(campaign: Campaign, { duration_seconds, waited_seconds }: CampaignResult): string {
  const working = duration_seconds === null ? null : Math.max(0, duration_seconds - waited_seconds)
  const waited =
    waited_seconds < 1 ? '' : `, besides ${clockText(waited_seconds)} waiting for other processes`
  const since = working === null ? [] : [`${clockText(working)} since the campaign began${waited}`]
  return [...since, costText(campaign)].join(', ')
}

function nextTexts(campaign: Campaign, { improvements }: CampaignResult, where: Whereabouts): string[] {
  const some = Object.keys(campaign.experiments)
  const last = improvements.at(-1)?.id ?? some.at(-1)
  const look =
    last === undefined
      ? []
      : [
          ['winnow status', 'every experiment'],
          [`winnow show ${last}`, 'its evidence'],
        ]
  const taken = campaign.incumbent.tree === campaign.reference.tree
  const take = improvements.length === 0 || taken || where.astray === true ? [] : takeTexts(campaign, where)
  return table([...look, ...take, ...finishTexts(campaign)])
}

function finishTexts({ status, experiments }: Campaign): string[][] {
  if (status === 'stopped') return [['winnow archive', 'put the campaign aside']]
  if (status === 'paused') return [['winnow resume', 'go on, once what it was paused for is settled']]
  if (Object.keys(experiments).length > 0) return [['winnow stop', 'end the campaign']]
  return [
    ['winnow try -m "…"', 'measure what you just changed'],
    ['winnow propose -m "…"', 'offer HEAD as an idea'],
  ]
}

function takeTexts({ name, reference }: Campaign, { prefix, remote }: Whereabouts): string[][] {
  const own = shortRef(campaignRefs(prefix, name).optimize)
  const branch = remote === null ? own : `${remote}/${own}`
  const fetch = remote === null ? '' : `git fetch ${remote} && `
  return [
    ['winnow audit', 'that all of it was measured, from git alone'],
    [`${fetch}git diff ${short(reference.commit)}..${branch}`, 'what changed'],
    [`git merge ${branch}`, 'take it'],
  ]
}
