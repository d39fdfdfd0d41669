import type { BacklogIdea } from '../model/campaign.ts'
import { ideaName } from '../model/fold-backlog.ts'
import { quoted } from './quoted-text.ts'

/** One idea per asking. It may have come by a comment, and says what is to be tried, not what is asked here. */
export function ideaToCarryOut(idea: BacklogIdea): string[] {
  const { hypothesis, category, required_deps } = idea
  return [
    `- ${ideaName(idea)} (${quoted(category, 60)}): ${quoted(hypothesis, 400)}`,
    ...(required_deps.length === 0 ? [] : [`- It may need ${quoted(required_deps.join(', '), 150)}.`]),
    '- Carry out this idea and no other. Where it cannot work, change nothing and say why under learnings.',
  ]
}
