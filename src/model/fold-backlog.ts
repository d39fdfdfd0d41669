import type { BacklogIdea, Campaign } from './campaign.ts'
import type { LedgerEvent } from './event.ts'
import type { EventHandler } from './fold-handler.ts'

/** As people name it. */
export function formatIdeaName({ number }: Pick<BacklogIdea, 'number'>): string {
  return `idea-${String(number).padStart(3, '0')}`
}

/** Numbered by their place in the ledger, so that two people who add one at once need not agree on anything. */
const applyHypothesisAdded: EventHandler<'hypothesis-added'> = ({ backlog }, event) => {
  const { id, hypothesis, category, priority, required_deps, family, source } = event
  const told = { hypothesis, category, priority, required_deps, family, source }
  const open = { status: 'open', experiment: null, outcome: null, learnings: null } as const
  backlog.push({ id, number: backlog.length + 1, ...told, ...open })
}

/** What was tried stays tried, whoever would drop it since. */
const applyHypothesisUpdated: EventHandler<'hypothesis-updated'> = ({ backlog }, event) => {
  const idea = backlog.find(({ id }) => id === event.hypothesis)
  if (idea === undefined || (idea.status === 'tried' && event.status === 'dropped')) return
  idea.status = event.status
  idea.experiment = event.experiment
  idea.outcome = event.outcome
  idea.learnings = event.learnings
}

export function markIdeaTried({ backlog }: Campaign, event: LedgerEvent<'experiment-opened'>): void {
  const idea = backlog.find(({ id }) => id === event.carries)
  if (idea !== undefined) idea.experiment = event.experiment
}

export const backlogHandlers = {
  'hypothesis-added': applyHypothesisAdded,
  'hypothesis-updated': applyHypothesisUpdated,
}
