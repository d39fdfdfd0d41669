import { canonicalJson, sha256 } from '../model/canonical.ts'
import type { Experiment } from '../model/campaign.ts'
import type { Step } from './action.ts'
import type { World } from './world.ts'

/** Packages an experiment needs and the spec in force does not name. */
export function unapproved(
  { spec }: Pick<World, 'spec'>,
  { required_deps }: Pick<Experiment, 'required_deps'>,
): string[] {
  return required_deps.filter(name => !spec.dependencies.approved.includes(name))
}

export function packagesDigest(packages: readonly string[]): string {
  return sha256(canonicalJson(packages.toSorted()))
}

/** What waited for packages that the spec approves by now goes on. */
export function approveDeferred(world: World): Step[] {
  return deferred(world).flatMap((experiment): Step[] => {
    if (unapproved(world, experiment).length > 0) return []
    const { id, opened, required_deps: packages } = experiment
    const digest = packagesDigest(packages)
    return [{ step: 'event', draft: { kind: 'approved', cause: opened, experiment: id, digest, packages } }]
  })
}

function deferred({ campaign }: Pick<World, 'campaign'>): Experiment[] {
  return Object.values(campaign.experiments).filter(({ status }) => status === 'deferred')
}

/** Who waits for what, and how it is given. */
export function approvalsNeeded(world: World): string | null {
  const waiting = deferred(world).map(({ id, required_deps }) => {
    return `${id} needs ${unapproved(world, { required_deps }).join(', ')}`
  })
  if (waiting.length === 0) return null
  return `approval: ${waiting.join('; ')}. Name what may be used in dependencies.approved of the spec`
}
