import { isRefusal } from '../forge/refused.ts'
import type { PlanAction } from '../plan/action.ts'
import { listRepeatKeys } from '../plan/repeats.ts'
import { type ApplyResult, type ControllerContext, executeEffect } from './apply.ts'
import type { Memory } from './memory.ts'
import type { Observation } from './observe.ts'
import { recordRefusalAlert, reportRefusal } from './refusals.ts'

/**
 * One of the effects that follow a push. Where it is refused, no other has to wait for that; whoever looks next finds it
 * missing, and tries again.
 */
export async function runEffect(
  hands: ControllerContext,
  seen: Observation,
  action: PlanAction,
): Promise<ApplyResult> {
  const { place, memory } = hands
  try {
    const applied = await executeEffect(hands, seen, action)
    // What runs shows at once, and a forge that is kept in refs as well.
    const shows = action.do === 'dispatch' || place.forge.stage !== undefined
    if (applied.result === 'done' && !shows) rememberEffect(memory, action)
    return applied
  } catch (error) {
    if (!isRefusal(error)) throw error
    rememberEffect(memory, action)
    reportRefusal(hands, error)
    if (action.do === 'dispatch') await recordRefusalAlert(hands, error)
    return { result: 'done' }
  }
}

function rememberEffect(memory: Memory, action: PlanAction): void {
  const tip = memory.loaded?.tip.commit ?? null
  if (memory.carried.tip !== tip) memory.carried = { tip, keys: new Set() }
  for (const key of listRepeatKeys(action)) memory.carried.keys.add(key)
}

/** Machines elsewhere are asked first: what is said, and to whom, can wait. This one begins when all is said. */
export function sortEffects({ runner }: ControllerContext, actions: readonly PlanAction[]): PlanAction[] {
  if (runner.runId !== null) return [...actions]
  const urgent = (action: PlanAction) => action.do === 'dispatch' || action.do === 'cancel'
  return [...actions.filter(urgent), ...actions.filter(action => !urgent(action))]
}
