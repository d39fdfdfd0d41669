import type { PendingProposal } from './asked.ts'
import type { Campaign } from './campaign.ts'
import type { EventId } from './ids.ts'
import type { EventHandler } from './fold-handler.ts'
import { countLostAsking } from './fruitless-runs.ts'

const applyIdeaAsked: EventHandler<'idea-asked'> = (campaign, event) => {
  const { key, who, base, until, carries = null, angle = null, at, by } = event
  const about = { key, who, base, until, carries, angle, first_unseen: campaign.next_number }
  const asking = { ...about, asked_at: at, run_id: by.run_id, brought: null }
  campaign.asked[key] = asking
}

const applyIdeaBrought: EventHandler<'idea-brought'> = (campaign, event) => {
  const { hypothesis, category, priority, required_deps, family, learnings, patch } = event
  const asking = campaign.asked[event.key]
  if (asking) asking.brought = { hypothesis, category, priority, required_deps, family, learnings, patch }
}

const applyAskingLost: EventHandler<'asking-lost'> = (campaign, event) => {
  const asking = campaign.asked[event.key]
  if (asking !== undefined) countLostAsking(campaign, { run_id: asking.run_id, at: event.at })
  delete campaign.asked[event.key]
}

const applyAnswerRepeated: EventHandler<'answer-repeated'> = (campaign, { key, experiment }) => {
  campaign.sources[key] = experiment
  delete campaign.answered[key]
  delete campaign.asked[key]
}

/** Those that nobody has answered yet: each counts as being asked, wherever its job runs. */
export function listPendingProposals({ asked: all }: Pick<Campaign, 'asked'>): PendingProposal[] {
  return Object.values(all).filter(asking => asking.brought === null)
}

/** Ideas of the backlog that one of them has, or has brought already. */
export function collectHandedOutIdeas({ asked: all }: Pick<Campaign, 'asked'>): Set<EventId> {
  return new Set(Object.values(all).flatMap(({ carries }) => carries ?? []))
}

export const proposalHandlers = {
  'idea-asked': applyIdeaAsked,
  'idea-brought': applyIdeaBrought,
  'asking-lost': applyAskingLost,
  'answer-repeated': applyAnswerRepeated,
}
