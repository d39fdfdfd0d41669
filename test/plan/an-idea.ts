import type { BacklogIdea } from '../../src/model/campaign.ts'

/** Of the backlog, but for what is said. */
export function anIdea(number: number, rest: Partial<BacklogIdea> = {}): BacklogIdea {
  return {
    id: `event-${number}`,
    number,
    hypothesis: `idea ${number}`,
    category: 'general',
    priority: 'medium',
    required_deps: [],
    family: null,
    source: 'ada',
    status: 'open',
    experiment: null,
    outcome: null,
    learnings: null,
    ...rest,
  }
}
