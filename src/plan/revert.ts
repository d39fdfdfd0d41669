import type { PlanStep } from './action.ts'
import type { World } from './world.ts'

/** A landing is taken back at once only if the tree without it was measured before; else it is an experiment. */
export function planDirectReverts(world: World): PlanStep[] {
  const { campaign } = world
  for (const wish of campaign.steered) {
    const facts = wish.action === 'revert' ? world.reverts.get(wish.event) : undefined
    if (!facts || 'conflict' in facts.result || facts.result.measuredIn === null) continue
    const { tree, measuredIn } = facts.result
    return [
      {
        step: 'revert',
        experiment: facts.landing,
        tree,
        from: campaign.incumbent,
        measuredIn,
        cause: wish.event,
      },
    ]
  }
  return []
}
