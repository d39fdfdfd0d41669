import type { Workflows } from '../../forge/port.ts'
import { askFor } from '../../plan/asking.ts'
import type { World } from '../../plan/world.ts'
import type { Hands } from '../apply.ts'
import { actionsRunner } from './runner.ts'
import { askingHere } from '../asking.ts'
import { campaignIdeas } from '../campaign-ideas.ts'
import { Lanes } from '../lanes.ts'
import { emptyMemory } from '../observe.ts'
import type { Place } from '../place.ts'

/**
 * What one tick needs where runs are workflow runs. It holds a token, so it runs no program of anybody: proposers are
 * asked in jobs of their own.
 */
export function openActionsHands(
  place: Place,
  workflows: Workflows,
  { signal, heed }: { signal: AbortSignal; heed?: NonNullable<Hands['heed']> },
): Hands {
  const ideas = { ...campaignIdeas(place), askable: () => [] }
  return {
    place,
    memory: emptyMemory(),
    runner: actionsRunner(place, workflows),
    ideas,
    asking: askingHere(place, ideas, new Lanes(), signal),
    only: null,
    ...(heed === undefined ? {} : { heed }),
  }
}

/** Whether a round would have room for ideas of programs that a job of their own could ask. */
export function wantsIdeas(place: Place, world: World): boolean {
  const { campaign, spec } = world
  const askable = campaignIdeas(place).askable(campaign, spec)
  return campaign.status === 'running' && !campaign.round?.open && askFor({ ...world, askable }).length > 0
}
