import type { BacklogIdea } from '../model/campaign.ts'
import { ideaName } from '../model/fold-backlog.ts'
import { oneLine } from './quoted-text.ts'

/** One idea per asking: whoever wrote it down may write to this campaign's ledger. */
export function ideaToCarryOut(idea: BacklogIdea): string[] {
  const { hypothesis, category, required_deps } = idea
  return [
    `- ${ideaName(idea)} (${oneLine(category, 60)}): ${oneLine(hypothesis, 400)}`,
    ...(required_deps.length === 0 ? [] : [`- It may need ${oneLine(required_deps.join(', '), 150)}.`]),
    '- Carry out this idea and no other. Where it cannot work, change nothing and say why under learnings.',
  ]
}
