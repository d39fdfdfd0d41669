import { UserError } from '../errors.ts'
import { findNearestWord } from '../spec/suggest.ts'
import type { KnownCampaign } from './known-campaigns.ts'

/** How a person may say which campaign is meant. */
export interface CampaignChoice {
  /** --campaign */
  name: string | undefined
  /** A spec's path in the repository, or a campaign's name. */
  spec: string | undefined
  /** The verb needs a ledger: what was never started does not make the choice ambiguous. */
  startedOnly: boolean
}

/** The campaign that is meant; the only one there is where nothing was said. */
export function chooseCampaign(known: readonly KnownCampaign[], choice: CampaignChoice): KnownCampaign {
  const { name, spec, startedOnly } = choice
  if (spec !== undefined) return findNamedCampaign(known, spec, name)
  if (name !== undefined) return known.find(each => each.name === name) ?? throwUnknownCampaign(known, name)
  const started = known.filter(each => each.started)
  const candidates = startedOnly && started.length > 0 ? started : known
  const [only] = candidates
  if (only === undefined) {
    throw new UserError('there is no campaign here: no spec on the default branch, and no ledger', {
      place: { file: '.winnow/<name>.yaml' },
      fix: 'write a spec, commit it (and push it), then winnow check',
    })
  }
  if (candidates.length === 1) return only
  throw new UserError(`there are several campaigns: ${candidates.map(each => each.name).join(', ')}`, {
    fix: 'name one with --campaign',
  })
}

function findNamedCampaign(
  known: readonly KnownCampaign[],
  spec: string,
  name: string | undefined,
): KnownCampaign {
  const found =
    known.find(each => each.paths.includes(spec)) ??
    known.find(each => each.ledgerPath === spec) ??
    known.find(each => each.name === spec)
  if (found !== undefined && found.paths.length > 1 && found.problem !== null) throw found.problem
  if (found !== undefined && name !== undefined && found.name !== name) {
    throw new UserError(`${spec} is campaign ${found.name}, but --campaign says ${name}`, {
      fix: 'give one of the two',
    })
  }
  if (found !== undefined) return found
  if (!/\.ya?ml$/.test(spec)) return throwUnknownCampaign(known, spec)
  const near = findNearestWord(
    spec,
    known.flatMap(each => each.paths),
  )
  throw new UserError(`${spec} is not on the default branch`, {
    place: { file: spec },
    fix: near === undefined ? 'commit it (and push it): a work tree is never used' : `did you mean ${near}?`,
  })
}

function throwUnknownCampaign(known: readonly KnownCampaign[], name: string): never {
  const near = findNearestWord(
    name,
    known.map(each => each.name),
  )
  const list = known.length === 0 ? 'there is none' : `there is ${known.map(each => each.name).join(', ')}`
  throw new UserError(`there is no campaign ${name}: ${list}`, {
    fix: near === undefined ? 'name one that exists, or commit a spec of that name' : `did you mean ${near}?`,
  })
}
