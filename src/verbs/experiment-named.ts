import { UserError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { listSubjects } from '../model/picked.ts'
import { findNearestWord } from '../spec/suggest.ts'

/** The experiment a person names: exp-007, 007 or 7. */
export function findNamedExperiment(campaign: Campaign, given: string): Experiment {
  const id = /^\d+$/.test(given) ? `exp-${given.padStart(3, '0')}` : given
  const found = listSubjects(campaign).find(each => each.id === id)
  if (found !== undefined) return found
  const ids = listSubjects(campaign).map(each => each.id)
  const near = findNearestWord(id, ids)
  throw new UserError(`there is no experiment ${given} in campaign ${campaign.name}`, {
    fix:
      near === undefined
        ? `winnow status lists ${ids.length === 0 ? 'them; there is none yet' : 'them'}`
        : `did you mean ${near}?`,
  })
}
