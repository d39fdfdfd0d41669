import { UserError } from '../errors.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import { formatIdeaName } from '../model/fold-backlog.ts'
import { findNearestWord } from '../spec/suggest.ts'

/** The idea of the backlog that a person names: idea-003, 003 or 3. */
export function findNamedIdea({ backlog, name }: Campaign, given: string): BacklogIdea {
  const wanted = /^\d+$/.test(given) ? formatIdeaName({ number: Number(given) }) : given
  const found = backlog.find(idea => formatIdeaName(idea) === wanted)
  if (found !== undefined) return found
  const near = findNearestWord(wanted, backlog.map(formatIdeaName))
  throw new UserError(`there is no ${given} in the backlog of campaign ${name}`, {
    fix: near === undefined ? 'winnow idea list shows what there is' : `did you mean ${near}?`,
  })
}
