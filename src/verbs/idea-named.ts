import { UserError } from '../errors.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import { ideaName } from '../model/fold-backlog.ts'
import { nearest } from '../spec/suggest.ts'

/** The idea of the backlog that a person names: idea-003, 003 or 3. */
export function ideaNamed({ backlog, name }: Campaign, given: string): BacklogIdea {
  const wanted = /^\d+$/.test(given) ? ideaName({ number: Number(given) }) : given
  const found = backlog.find(idea => ideaName(idea) === wanted)
  if (found !== undefined) return found
  const near = nearest(wanted, backlog.map(ideaName))
  throw new UserError(`there is no ${given} in the backlog of campaign ${name}`, {
    fix: near === undefined ? 'winnow idea list shows what there is' : `did you mean ${near}?`,
  })
}
