import { plural } from '../decide/wording.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import { ideaName } from '../model/fold-backlog.ts'
import { oneLine } from '../model/landing.ts'
import { openIdeas, restingFor } from '../plan/backlog.ts'
import { specOf } from '../spec/recorded-spec.ts'
import { table } from './table.ts'

type Listed = Pick<Campaign, 'backlog' | 'experiments' | 'proposers'>

/** What `winnow idea list --json` prints of one idea. */
export interface IdeaView extends Omit<BacklogIdea, 'id' | 'number'> {
  id: string
  event: string
  /** Programs that are not handed it again, each with its refused answers to it. */
  rests_for: Record<string, string[]>
}

export function ideaView(campaign: Listed, idea: BacklogIdea): IdeaView {
  const { id, number, ...told } = idea
  const rests_for = Object.fromEntries(restingFor(campaign, idea))
  return { id: ideaName({ number }), event: id, ...told, rests_for }
}

/** Open ones first, as they are handed out; then those that somebody has, and what became of the rest. */
export function ideasInOrder(campaign: Listed): BacklogIdea[] {
  const open = openIdeas(campaign)
  const known = new Set(open)
  return [...open, ...campaign.backlog.filter(idea => !known.has(idea))]
}

export function backlogText(campaign: Listed): string[] {
  const rows = ideasInOrder(campaign).map(idea => [
    ideaName(idea),
    `${stateOf(idea)}`,
    `${idea.priority}, ${oneLine(idea.category, 40)}`,
    oneLine(idea.hypothesis, 100),
    idea.learnings === null ? restText(campaign, idea) : oneLine(idea.learnings, 120),
  ])
  return rows.length === 0 ? ['No idea is written down. winnow idea add "what might help"'] : table(rows)
}

/** Why a program is not asked for it again, and how it goes on. */
function restText(campaign: Listed, idea: BacklogIdea): string {
  if (idea.experiment !== null) return ''
  const [first, ...others] = [...restingFor(campaign, idea)].map(
    ([who, answers]) =>
      `${oneLine(who, 40)} was refused ${plural(answers.length, 'time')} (${answers.join(', ')})`,
  )
  if (first === undefined) return ''
  const refused = [first, ...others].join(', ')
  return `${refused}; rests until another program or winnow try --idea ${ideaName(idea)} takes it`
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
