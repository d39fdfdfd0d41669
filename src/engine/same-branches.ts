import { UserError } from '../errors.ts'
import type { CampaignRefs } from '../model/refs.ts'
import { toShortRef } from '../model/refs.ts'
import type { Spec } from '../spec/schema.ts'
import type { CampaignContext } from './place.ts'

type BranchNaming = Pick<CampaignContext, 'name' | 'prefix'>

/** A campaign is found by the names of its branches: what a spec calls them now, where that is something else. */
export function describeRename(
  { name, prefix }: BranchNaming,
  { name: other, branches }: Pick<Spec, 'name' | 'branches'>,
) {
  if (other !== name) return `it is now named ${other}, and the campaign ${name}`
  if (branches.prefix === prefix) return null
  return `its branches.prefix is now ${branches.prefix}, and that of the campaign ${prefix}`
}

/** No spec makes the branches of one campaign those of another. */
export function requireSameBranches(
  place: BranchNaming & { refs: Pick<CampaignRefs, 'state'> },
  spec: Spec,
  path: string,
): void {
  const now = describeRename(place, spec)
  if (now === null) return
  throw new UserError(`the branches of this campaign would have other names: ${now}`, {
    place: { file: path, path: spec.name === place.name ? 'branches.prefix' : 'name' },
    fix: `change it back, or put ${toShortRef(place.refs.state)} aside with winnow archive, then winnow run ${path}`,
  })
}
