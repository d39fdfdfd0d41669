import { compareTrees } from '../../git/tree-walk.ts'
import { compileScope } from '../../spec/scope.ts'
import type { IncumbentStep } from './incumbent-step.ts'

/** Invariant 4: outside scope.mutable the tree is the pin's, so what was measured is what lies there. */
export async function findPinGaps({ place, campaign, spec, to }: IncumbentStep): Promise<string[]> {
  if (spec === null) return ['the spec in force cannot be read']
  const { pin } = campaign
  const { isMutable } = compileScope(spec)
  const differences = await compareTrees(place.repository, pin.tree, to.tree)
  const first = differences.find(({ path }) => !isMutable(path))
  return first ? [`${first.path} is outside scope.mutable and not as in the pinned commit ${pin.commit}`] : []
}
