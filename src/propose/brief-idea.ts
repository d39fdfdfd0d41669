import type { BacklogIdea } from '../model/campaign.ts'
import { formatIdeaName } from '../model/fold-backlog.ts'
import { quoteCode } from './quoted-text.ts'

/** One idea per asking. It may have come by a comment, and says what is to be tried, not what is asked here. */
export function renderIdeaTask(idea: BacklogIdea): string[] {
  const { hypothesis, category, required_deps } = idea
  return [
    `- ${formatIdeaName(idea)} (${quoteCode(category, 60)}): ${quoteCode(hypothesis, 400)}`,
    ...(required_deps.length === 0 ? [] : [`- It may need ${quoteCode(required_deps.join(', '), 150)}.`]),
    '- Carry out this idea and no other. Where it cannot work, change nothing and say why under learnings.',
  ]
}
