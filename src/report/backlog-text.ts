import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import { ideaName } from '../model/fold-backlog.ts'
import { oneLine } from '../model/landing.ts'
import { openIdeas } from '../plan/backlog.ts'
import { specOf } from '../spec/recorded-spec.ts'
import { table } from './table.ts'

/** What `winnow idea list --json` prints of one idea. */
export interface IdeaView extends Omit<BacklogIdea, 'id' | 'number'> {
  id: string
  event: string
}

export function ideaView({ id, number, ...told }: BacklogIdea): IdeaView {
  return { id: ideaName({ number }), event: id, ...told }
}

/** Open ones first, as they are handed out; then those that somebody has, and what became of the rest. */
export function ideasInOrder(campaign: Pick<Campaign, 'backlog' | 'experiments'>): BacklogIdea[] {
  const open = openIdeas(campaign)
  const known = new Set(open)
  return [...open, ...campaign.backlog.filter(idea => !known.has(idea))]
}

export function backlogText(campaign: Pick<Campaign, 'backlog' | 'experiments'>): string[] {
  const rows = ideasInOrder(campaign).map(idea => [
    ideaName(idea),
    `${stateOf(idea)}`,
    `${idea.priority}, ${oneLine(idea.category, 40)}`,
    oneLine(idea.hypothesis, 100),
    idea.learnings === null ? '' : oneLine(idea.learnings, 120),
  ])
  return rows.length === 0 ? ['No idea is written down. winnow idea add "what might help"'] : table(rows)
}

function stateOf({ status, experiment }: BacklogIdea): string {
  if (status === 'open' && experiment !== null) return `in ${experiment}`
  return experiment === null ? status : `${status} as ${experiment}`
}

const SHOWN = 5

/** For people to take where no program would: the next ones, and how many more there are. */
export function ideasToTake(campaign: Campaign): BacklogIdea[] {
  if (campaign.status === 'stopped' || asksPrograms(campaign)) return []
  return openIdeas(campaign).slice(0, SHOWN)
}

function asksPrograms(campaign: Campaign): boolean {
  if (campaign.spec_yaml === '') return false
  return specOf(campaign).propose.some(({ use }) => use === 'command')
}

export function toTakeLine(idea: BacklogIdea): string {
  return `${ideaName(idea)} (${idea.priority}, ${oneLine(idea.category, 40)}): ${oneLine(idea.hypothesis, 120)}`
}
