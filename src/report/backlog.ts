import { formatCount } from '../decide/wording.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import { formatIdeaName } from '../model/fold/proposers.ts'
import { toOneLine } from '../model/text.ts'
import { listOpenIdeas, listRestingProposers } from '../plan/backlog.ts'
import { getCampaignSpec } from '../spec/load.ts'
import { formatTable } from './terminal.ts'

type BacklogCampaign = Pick<Campaign, 'backlog' | 'experiments' | 'proposers'>

interface IdeaView extends Omit<BacklogIdea, 'id' | 'number'> {
  id: string
  event: string
  /** Proposers that no longer receive the idea, each with its refused answers to it. */
  rests_for: Record<string, string[]>
}

export function toIdeaView(campaign: BacklogCampaign, idea: BacklogIdea): IdeaView {
  const { id, number, ...rest } = idea
  const rests_for = Object.fromEntries(listRestingProposers(campaign, idea))
  return { id: formatIdeaName({ number }), event: id, ...rest, rests_for }
}

/** Open ideas first, in the order in which proposers receive them; then ideas in work, then finished ones. */
export function sortBacklogIdeas(campaign: BacklogCampaign): BacklogIdea[] {
  const open = listOpenIdeas(campaign)
  const known = new Set(open)
  return [...open, ...campaign.backlog.filter(idea => !known.has(idea))]
}

export function renderBacklog(campaign: BacklogCampaign): string[] {
  const rows = sortBacklogIdeas(campaign).map(idea => [
    formatIdeaName(idea),
    describeIdeaState(idea),
    `${idea.priority}, ${toOneLine(idea.category, 40)}`,
    toOneLine(idea.hypothesis, 100),
    idea.learnings === null ? describeIdeaRest(campaign, idea) : toOneLine(idea.learnings, 120),
  ])
  return rows.length === 0
    ? ['The backlog is empty. Next: winnow idea add "what might help"']
    : formatTable(rows)
}

function describeIdeaRest(campaign: BacklogCampaign, idea: BacklogIdea): string {
  if (idea.experiment !== null) return ''
  const refused = [...listRestingProposers(campaign, idea)].map(
    ([proposer, answers]) =>
      `${toOneLine(proposer, 40)} was refused ${formatCount(answers.length, 'time')} (${answers.join(', ')})`,
  )
  if (refused.length === 0) return ''
  return `${refused.join(', ')}; it waits until another program or winnow try --idea ${formatIdeaName(idea)} implements it`
}

function describeIdeaState({ status, experiment }: BacklogIdea): string {
  if (status === 'open' && experiment !== null) return `in ${experiment}`
  return experiment === null ? status : `${status} as ${experiment}`
}

const MAX_SHOWN = 5

/** Lists the next ideas for people to take when no proposer can, and counts the others. */
export function listIdeasToTake(campaign: Campaign): BacklogIdea[] {
  if (campaign.status === 'stopped' || canAskPrograms(campaign)) return []
  return listOpenIdeas(campaign).slice(0, MAX_SHOWN)
}

function canAskPrograms(campaign: Campaign): boolean {
  if (campaign.spec_yaml === '') return false
  return getCampaignSpec(campaign).propose.some(({ use }) => use === 'command')
}

export function formatIdeaToTake(idea: BacklogIdea): string {
  return `${formatIdeaName(idea)} (${idea.priority}, ${toOneLine(idea.category, 40)}): ${toOneLine(idea.hypothesis, 120)}`
}
