import { isRefusal } from '../forge/refused.ts'
import type { Action } from '../plan/action.ts'
import { repeatKeys } from '../plan/repeats.ts'
import { type Applied, type Hands, takeEffect } from './apply.ts'
import type { Memory } from './memory.ts'
import type { Observation } from './observe.ts'
import { alertOf, noteRefusal } from './refusals.ts'

/**
 * One of the effects that follow a push. Where it is refused, no other has to wait for that; whoever looks next finds it
 * missing, and tries again.
 */
export async function effectOf(hands: Hands, seen: Observation, action: Action): Promise<Applied> {
  const { place, memory } = hands
  try {
    const applied = await takeEffect(hands, seen, action)
    // What runs shows at once, and a forge that is kept in refs as well.
    const shows = action.do === 'dispatch' || place.forge.stage !== undefined
    if (applied.result === 'done' && !shows) remember(memory, action)
    return applied
  } catch (error) {
    if (!isRefusal(error)) throw error
    remember(memory, action)
    noteRefusal(hands, error)
    if (action.do === 'dispatch') await alertOf(hands, error)
    return { result: 'done' }
  }
}

function remember(memory: Memory, action: Action): void {
  const tip = memory.loaded?.tip.commit ?? null
  if (memory.carried.tip !== tip) memory.carried = { tip, keys: new Set() }
  for (const key of repeatKeys(action)) memory.carried.keys.add(key)
}

/** Machines elsewhere are asked first: what is said, and to whom, can wait. This one begins when all is said. */
export function inOrder({ runner }: Hands, actions: readonly Action[]): Action[] {
  if (runner.runId !== null) return [...actions]
  const urgent = (action: Action) => action.do === 'dispatch' || action.do === 'cancel'
  return [...actions.filter(urgent), ...actions.filter(action => !urgent(action))]
}
